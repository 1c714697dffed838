#include "mpi/job/agreement.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/launched.h"
#include "base/log.h"
#include "base/options.h"
#include "exec/waiter.h"
#include "group/group.h"
#include "mpi/host/polled.h"
#include "mpi/host/ranks.h"
#include "mpi/host/tools.h"
#include "mpi/job/end.h"
#include "base/only_one.h"
#include "mpi/job/gathered_placement.h"
#include "select/select.h"

namespace tutti::mpi {
namespace {

using std::chrono::seconds;
using Elapsed = exec::Pace::Duration;

constexpr seconds init_said_after{10};
constexpr size_t most_said = 4096;  // bytes of the text about what is hidden

// A hash for each variable that must not differ between ranks. `in_init`: also of those that only
// the ranks of MPI_Init must have alike.
std::vector<uint64_t> fingerprints(const Options& options, bool in_init) {
  const select::Overrides overrides = group::overrides_of(options);
  // The hashes of the contents of the files that these variables name.
  const std::map<std::string_view, uint64_t> contents = {
      {"TUTTI_PLANS", overrides.library == nullptr ? 0 : overrides.library->fingerprint},
      {"TUTTI_TABLE", overrides.table == nullptr ? 0 : overrides.table->fingerprint},
      {"TUTTI_CLUSTERS", options.clusters.empty() ? 0 : clusters_fingerprint()}};
  std::vector<uint64_t> hashes;
  for (const OptionRow& row : option_table()) {
    const bool compared = row.ranks.rule == AcrossRanks::same_value ||
                          (in_init && row.ranks.rule == AcrossRanks::set_in_init);
    if (row.ranks.rule == AcrossRanks::same_files)
      hashes.push_back(contents.at(row.name));
    else
      hashes.push_back(compared ? hashed(hash_of_nothing, row.ranks.value(options)) : 0);
  }
  return hashes;
}

uint64_t fingerprint(const std::vector<uint64_t>& hashes) {
  uint64_t hash = hash_of_nothing;
  for (const uint64_t of_variable : hashes) hash = hashed(hash, std::to_string(of_variable));
  // Ranks that have not agreed on it in MPI_Init, in sessions, must find it alike.
  for (size_t i = 0; i < visible().size(); ++i)
    if (visible()[i] == 0) hash = hashed(hash, std::to_string(i));
  return hash;
}

// The time after which a wait is logged, and what is logged then.
struct Patience {
  seconds said_after;  // 0: the wait is never logged
  const char* line;
};

Patience patience_in_init(const char* line) {
  const int limit = options().stall_seconds;
  return {limit > 0 ? std::min(seconds(limit), init_said_after) : init_said_after, line};
}

// The wait of one agreement. Logs it when it takes long, and ends the job after
// TUTTI_STALL_SECONDS if TUTTI_STALL=abort.
class Waiting {
 public:
  Waiting(Comm communicator, const Patience& patience)
      : communicator_(communicator), patience_(patience) {}

  void look(Elapsed elapsed) {
    if (patience_.said_after == seconds(0) || elapsed < patience_.said_after / 2) return;
    // A rank of the node is chosen long before it must speak. Otherwise a late rank could be chosen
    // again after the first one has spoken and ended its wait.
    if (speaker_ == nullptr) speaker_ = std::make_unique<OnlyOne>("waits");
    if (elapsed > patience_.said_after) speak(elapsed);
  }

 private:
  void speak(Elapsed elapsed) {
    if (!said_ && speaker_->chosen())
      log_line(LogLevel::warning, "%s; start all ranks under tutti-run, or none", patience_.line);
    said_ = true;
    const int limit = options().stall_seconds;
    const seconds after_the_speaker{speaker_->chosen() ? 0 : 1};
    if (limit == 0 || options().stall != StallAction::abort_job ||
        elapsed < seconds(limit) + after_the_speaker)
      return;
    if (speaker_->chosen())
      log_line(LogLevel::error, "stalled for %d s; ended because TUTTI_STALL=abort", limit);
    let_launcher_read();
    end_job(communicator_);
  }

  Comm communicator_;
  Patience patience_;
  std::unique_ptr<OnlyOne> speaker_;
  bool said_ = false;
};

// The least of all ranks' values, for each of `count` values. False if the host MPI failed.
bool least_of_all(const uint64_t* own, uint64_t* least, int count, Comm communicator,
                  const Patience& patience) {
  const Host& mpi = host();
  // All simulated ranks run under Tutti, so the blocking form serves. SMPI's nonblocking form is
  // linear in the number of ranks, which all send at once.
  if (simulated)
    return mpi.Allreduce(own, least, count, mpi.type_uint64, mpi.op_min, communicator) == success;
  Request request;
  if (mpi.Iallreduce(own, least, count, mpi.type_uint64, mpi.op_min, communicator, &request) !=
      success)
    return false;
  Waiting waiting(communicator, patience);
  return complete(&request, [&](exec::Waiter& waiter) { waiting.look(waiter.watched().time()); }) ==
         success;
}

// True if the launcher says that the communicator's ranks are all on this rank's node. MPICH may be
// told to play several nodes on one.
bool is_launched_on_one_node(int ranks) {
  for (const char* plays :
       {"MPIR_CVAR_NUM_CLIQUES", "MPIR_CVAR_ODD_EVEN_CLIQUES", "MPIR_CVAR_NOLOCAL"})
    if (getenv(plays) != nullptr) return false;
  return launched_ranks_on_node() == ranks;
}

// `words`: each must be the same at all ranks. *differs gets the index of each that is not.
Common agree(Comm communicator, const std::vector<uint64_t>& words, uint64_t extra,
             const Patience& patience, std::vector<size_t>* differs) {
  const uint64_t disabled = options().disable ? 1 : 0;
  const int ranks = ranks_in(communicator);
  const uint64_t one_node = is_launched_on_one_node(ranks) ? 1 : 0;
  const uint64_t can_meet = ranks_to_meet == ranks ? 1 : 0;
  const uint64_t hides_nothing = hidden_here().empty() ? 1 : 0;
  const uint64_t hides_no_needed = hides_what_is_needed() ? 0 : 1;
  std::vector<uint64_t> own = {disabled, 1 - disabled,  extra,           ~extra,
                               one_node, hides_nothing, hides_no_needed, can_meet};
  const size_t first = own.size();
  // All ranks have the same word if the least word is the complement of the least complement.
  for (const uint64_t word : words) own.insert(own.end(), {word, ~word});
  std::vector<uint64_t> least(own.size());
  Common common;
  if (!least_of_all(own.data(), least.data(), static_cast<int>(own.size()), communicator, patience))
    return common;
  common.one_node = least[4] == 1;
  common.hides = least[5] == 0;
  common.hides_needed = least[6] == 0;
  common.can_meet = least[7] == 1;
  common.same = least[2] == ~least[3];
  common.least = least[2];
  for (size_t i = 0; i < words.size(); ++i)
    if (least[first + 2 * i] != ~least[first + 2 * i + 1]) differs->push_back(i);
  if (least[0] == 1)
    common.verdict = Verdict::disabled;
  else if (least[1] == 0)
    common.verdict = Verdict::disabled_at_some;
  else
    common.verdict = differs->empty() ? Verdict::alike : Verdict::different_options;
  return common;
}

}  // namespace

Common agree_in_init(uint64_t own, std::string* culprits) {
  std::vector<size_t> differs;
  const Common common = agree(host().comm_world, fingerprints(options(), true), own,
                              patience_in_init("MPI_Init waits for ranks that have not come, "
                                               "likely because they do not run under tutti-run"),
                              &differs);
  if (common.verdict == Verdict::disabled_at_some) *culprits = "TUTTI_DISABLE";
  if (common.verdict != Verdict::different_options) return common;
  for (const size_t place : differs) {
    const OptionRow& row = option_table()[place];
    if (!culprits->empty()) *culprits += ", ";
    if (row.ranks.rule == AcrossRanks::same_files) *culprits += "files of ";
    *culprits += row.name;
  }
  return common;
}

bool agree_on_hidden(bool needed) {
  const Host& mpi = host();
  std::string text = hidden_here();
  // The last number is the first rank at which something is hidden.
  std::vector<uint64_t> own = visible();
  own.push_back(text.empty() ? INT64_MAX : static_cast<uint64_t>(rank_in(mpi.comm_world)));
  std::vector<uint64_t> least(own.size());
  if (!least_of_all(own.data(), least.data(), static_cast<int>(own.size()), mpi.comm_world, {}))
    return false;
  text.resize(most_said);
  const int first = static_cast<int>(least.back());
  if (broadcast(text.data(), text.size(), mpi.comm_world, first) != success) return false;
  least.pop_back();
  note_hidden(std::move(least), text.c_str());
  return !needed;
}

bool agree_with_others(Comm inter, bool on) {
  const uint64_t own[] = {fingerprint(fingerprints(options(), false)), on ? uint64_t{1} : 0};
  uint64_t others[2] = {};
  if (!least_of_all(
          own, others, 2, inter,
          patience_in_init(
              "spawned processes and their parents wait for each other; some do not run under "
              "tutti-run, though MPI_Comm_spawn started it")))
    return false;
  return on && others[1] == 1 && others[0] == own[0];
}

Common agree_in_setup(Comm communicator, uint64_t own) {
  std::vector<size_t> differs;
  // A rank may be late because the program computes, so only the watchdog's time counts.
  return agree(communicator, {fingerprint(fingerprints(options(), false))}, own,
               {seconds(options().stall_seconds),
                "a communicator's set-up waits for ranks that are late, or do not run under "
                "tutti-run"},
               &differs);
}

}  // namespace tutti::mpi
