// Collectives in which the leaders of the nodes use the host MPI's own collective (algo/by_host.h).
// The group runs two programs on its channel, one before the host's collective and one after it.
// Between them the leaders call the host's collective (group/leaders.h).
//
// The two programs are separate operations, and no step of either waits for another node. Each one
// ends with the whole vector before the next part begins, because the host's collective is not
// divided into segments.
#include <algorithm>

#include "algo/by_host.h"
#include "group/group.h"
#include "group/programs.h"
#include "group/scratch.h"

namespace tutti::group {
namespace {

using plan::Collective;

int index_of(int rank, const std::vector<int32_t>& leaders) {
  const auto found = std::find(leaders.begin(), leaders.end(), rank);
  return found == leaders.end() ? -1 : static_cast<int>(found - leaders.begin());
}

// For each rank, the index of its node's leader.
std::vector<int32_t> leader_index_of(const placement::Levels& levels,
                                     const std::vector<int32_t>& leaders) {
  for (const placement::SharedLevel& level : levels.all()) {
    if (level.name == "node") return level.group_of.values();
  }
  return leaders;  // each rank leads itself
}

}  // namespace

bool Group::goes_by_host(std::string_view algorithm) const {
  return node_count_ > 1 && algo::by_host(algorithm);
}

bool Group::fits(const Entry& entry, size_t element) const {
  if (entry.served > 0) return true;
  if (entry.by_leaders == nullptr)
    return plan::fits(*entry.bound->program, channel_.resources(), element);
  const auto phase_fits = [&](const std::unique_ptr<Entry>& phase) {
    return phase == nullptr || fits(*phase, element);
  };
  return phase_fits(entry.by_leaders->before) && phase_fits(entry.by_leaders->after);
}

std::unique_ptr<Group::ByLeaders> Group::make_phases(ProgramRequest request, size_t segment_bytes) {
  if (check_) {
    request.phase = algo::Phase::standing_in;
    program_for(request);
  }
  const auto make = [&](algo::Phase phase) -> std::unique_ptr<Entry> {
    request.phase = phase;
    auto entry = std::make_unique<Entry>();
    bind(*entry, request, segment_bytes, ReachChoice::automatic);
    return entry->bound->program->transfers == 0 ? nullptr : std::move(entry);
  };
  auto phases = std::make_unique<ByLeaders>();
  phases->before = make(algo::Phase::before);
  phases->after = make(algo::Phase::after);
  const std::vector<int32_t> leaders = algo::leaders(levels_, ranks());
  phases->collective = request.collective;
  phases->place = index_of(rank(), leaders);
  const std::vector<int32_t> above = leader_index_of(levels_, leaders);
  if (plan::rooted(request.collective)) phases->root = above[static_cast<size_t>(request.root)];
  phases->alone = std::count(above.begin(), above.end(), above[static_cast<size_t>(rank())]) == 1;
  const bool led = phases->place >= 0 && !phases->alone;
  phases->lent = led && plan::combines(request.collective) && plan::rooted(request.collective) &&
                 rank() != request.root;
  return phases;
}

Code Group::run_by_leaders(const Entry& entry, exec::Operation operation, size_t element) {
  const ByLeaders& phases = *entry.by_leaders;
  if (phases.lent) {
    lent_.resize(std::max(lent_.size(), operation.bytes));
    operation.out = lent_.data();
  }
  Code code = phases.before != nullptr ? run_entry(*phases.before, operation, element) : Code::ok;
  if (code == Code::ok && phases.place >= 0) {
    code = channel_.among_leaders(operation, [&] { return among_leaders(phases, operation); });
    if (code != Code::ok && failure().empty()) channel_.give_up(code, leaders_->failure());
  }
  try {
    if (code == Code::ok && phases.after != nullptr)
      code = run_entry(*phases.after, operation, element);
  } catch (...) {  // the earlier phases count as this rank's entry, after which nothing is thrown
    code = fail_thrown(operation.call);
  }
  release_scratch(lent_);
  return code;
}

bool Group::among_leaders(const ByLeaders& phases, const exec::Operation& operation) {
  // A rank that is alone on its node has nothing to combine first, so the host gets its own input.
  const void* const in = phases.alone ? operation.in : operation.out;
  const bool same = plan::one_buffer(phases.collective);
  return leaders_->run({.collective = phases.collective,
                        .in = same ? operation.out : in,
                        .out = operation.out,
                        .count = operation.count,
                        .root = phases.root,
                        .combine = operation.combine});
}

}  // namespace tutti::group
