#include "mpi/job/agreement.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/launched.h"
#include "base/log.h"
#include "base/options.h"
#include "exec/waiter.h"
#include "group/group.h"
#include "mpi/host/polled.h"
#include "mpi/job/end.h"
#include "base/only_one.h"
#include "mpi/job/gathered_placement.h"
#include "select/select.h"

namespace tutti::mpi {
namespace {

using std::chrono::seconds;
using Elapsed = exec::Pace::Duration;

constexpr seconds init_said_after{10};

// A hash of all options that decisions depend on. These options must be the same at all ranks,
// because all ranks must decide alike. `with_report`: also whether there is a report or a trace.
uint64_t fingerprint(const Options& options, bool with_report) {
  std::string text = with_report && !options.report.empty() ? "report\n" : "\n";
  text += with_report && !options.trace.empty() ? "trace\n" : "\n";
  for (const std::string& word : options.algorithms) text += word + '\n';
  for (const size_t number :
       {static_cast<size_t>(options.wait), static_cast<size_t>(options.shm),
        options.shm_bytes_per_rank, options.segment_bytes, static_cast<size_t>(options.setup_after),
        static_cast<size_t>(options.reach), static_cast<size_t>(options.shared_heap),
        static_cast<size_t>(options.servers.count), static_cast<size_t>(options.servers_domain),
        static_cast<size_t>(options.servers_as), static_cast<size_t>(options.serve)})
    text += std::to_string(number) + '\n';
  text += options.topology + '\n' + std::to_string(static_cast<int>(options.reproducible)) + '\n';
  const select::Overrides overrides = group::overrides_of(options);
  if (overrides.library != nullptr) text += std::to_string(overrides.library->fingerprint) + '\n';
  if (!options.clusters.empty())
    text += "clusters " + std::to_string(clusters_fingerprint()) + '\n';
  if (overrides.table != nullptr)
    text += "table " + std::to_string(overrides.table->fingerprint) + '\n';
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a: the same in every process
  for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
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
bool is_launched_on_one_node(Comm communicator) {
  for (const char* plays :
       {"MPIR_CVAR_NUM_CLIQUES", "MPIR_CVAR_ODD_EVEN_CLIQUES", "MPIR_CVAR_NOLOCAL"})
    if (getenv(plays) != nullptr) return false;
  int ranks = 0;
  host().Comm_size(communicator, &ranks);
  return launched_ranks_on_node() == ranks;
}

Common agree(Comm communicator, uint64_t options_hash, uint64_t extra, const Patience& patience) {
  const uint64_t disabled = options().disable ? 1 : 0;
  // All ranks have the same word if the least word is the complement of the least complement.
  const uint64_t one_node = is_launched_on_one_node(communicator) ? 1 : 0;
  const uint64_t own[] = {options_hash, ~options_hash, disabled, 1 - disabled,
                          extra,        ~extra,        one_node};
  uint64_t least[7] = {};
  Common common;
  if (!least_of_all(own, least, 7, communicator, patience)) return common;
  common.one_node = least[6] == 1;
  common.same = least[4] == ~least[5];
  common.least = least[4];
  if (least[2] == 1)
    common.verdict = Verdict::disabled;
  else if (least[3] == 0)
    common.verdict = Verdict::disabled_at_some;
  else
    common.verdict = least[0] == ~least[1] ? Verdict::alike : Verdict::different_options;
  return common;
}

}  // namespace

const char* culprit(Verdict verdict) {
  if (verdict == Verdict::disabled_at_some) return "TUTTI_DISABLE variables";
  return verdict == Verdict::different_options ? "TUTTI_* variables, or TUTTI_PLANS, TUTTI_TABLE "
                                                 "or TUTTI_CLUSTERS with different files"
                                               : "";
}

Common agree_in_init(uint64_t own) {
  return agree(host().comm_world, fingerprint(options(), true), own,
               patience_in_init("MPI_Init waits for ranks that have not come, likely because they "
                                "do not run under tutti-run"));
}

bool agree_with_others(Comm inter, bool on) {
  const uint64_t own[] = {fingerprint(options(), false), on ? uint64_t{1} : 0};
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
  // A rank may be late because the program computes, so only the watchdog's time counts.
  return agree(communicator, fingerprint(options(), false), own,
               {seconds(options().stall_seconds),
                "a communicator's set-up waits for ranks that are late, or do not run under "
                "tutti-run"});
}

}  // namespace tutti::mpi
