// Collectives whose leaders exchange by the host MPI's own (algo/by_host.h): two programs on the
// group's channel, and between them, at leaders, the host's call (group/leaders.h).
//
// To a node's ranks it is two operations one after the other, so that nothing of a phase waits for
// what another node does. The whole vector goes through each: the host takes no segments.
#include <algorithm>

#include "algo/by_host.h"
#include "group/group.h"
#include "group/programs.h"
#include "group/scratch.h"

namespace tutti::group {
namespace {

using plan::Collective;

int place_of(int rank, const std::vector<int32_t>& leaders) {
  const auto found = std::find(leaders.begin(), leaders.end(), rank);
  return found == leaders.end() ? -1 : static_cast<int>(found - leaders.begin());
}

// By rank: the place of its node's leader.
std::vector<int32_t> places_above(const topo::Levels& levels, const std::vector<int32_t>& leaders) {
  for (const topo::Floor& floor : levels.floors()) {
    if (floor.name == "node") return floor.group_of.values();
  }
  return leaders;  // each rank leads itself
}

}  // namespace

bool Group::goes_by_host(std::string_view algorithm) const {
  return node_count_ > 1 && algo::by_host(algorithm);
}

bool Group::fits(const Entry& entry, size_t element) const {
  if (entry.by_leaders == nullptr) return channel_.fits(*entry.bound->program, element);
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
  phases->place = place_of(rank(), leaders);
  const std::vector<int32_t> above = places_above(levels_, leaders);
  if (plan::rooted(request.collective)) phases->root = above[static_cast<size_t>(request.root)];
  phases->alone = std::count(above.begin(), above.end(), above[static_cast<size_t>(rank())]) == 1;
  const bool led = phases->place >= 0 && !phases->alone;
  phases->lent = led && request.collective == Collective::reduce && rank() != request.root;
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
    code = channel_.among_leaders(operation.call, [&] { return among_leaders(phases, operation); });
    if (code != Code::ok && failure().empty()) channel_.give_up(code, leaders_->failure());
  }
  try {
    if (code == Code::ok && phases.after != nullptr)
      code = run_entry(*phases.after, operation, element);
  } catch (...) {  // the phases before were this rank's entry
    code = fail_thrown(operation.call);
  }
  release_scratch(lent_);
  return code;
}

bool Group::among_leaders(const ByLeaders& phases, const exec::Operation& operation) {
  // A node's only rank has nothing to combine first.
  const void* const in = phases.alone ? operation.in : operation.out;
  switch (phases.collective) {
    case Collective::barrier: return leaders_->barrier();
    case Collective::bcast: return leaders_->bcast(operation.out, operation.bytes, phases.root);
    case Collective::reduce:
      return leaders_->reduce(in, operation.out, operation.count, *operation.combine, phases.root);
    default: return leaders_->allreduce(in, operation.out, operation.count, *operation.combine);
  }
}

}  // namespace tutti::group
