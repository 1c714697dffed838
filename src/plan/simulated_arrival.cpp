// The reduction in the order of arrival in a simulated run. The interleaving chooses among the
// sources that are there.
#include <algorithm>

#include "plan/simulated_run.h"

namespace tutti::plan {

// The release that made a source with a peer ready; null while it is not ready.
const ReleasedWord::Release* SimulatedRun::arrived(int32_t rank, SimulatedStep at,
                                                   const Arrival& arrival) const {
  const Program& program = what_.programs[rank];
  const auto awaited = awaited_number(program, arrival, at.segment);
  const int64_t number = base(ranks_[rank].operation) + awaited->number;
  if (!program.uses_lines) return words_[awaited->peer].reached(number);
  return stamped(rank, awaited->peer, arrival.line, number);
}

// The sources that may be taken next. A source that is the destination goes first, because it would
// be overwritten otherwise.
std::vector<int32_t> SimulatedRun::ready_sources(int32_t rank, SimulatedStep at) {
  const Program& program = what_.programs[rank];
  const Step& step = program.steps[at.step];
  const Operand* operands = &program.operands[step.first_operand];
  const std::vector<int32_t>& taken = ranks_[rank].taken;
  std::vector<int32_t> ready;
  for (int32_t source = 0; source < step.operand_count - 1; ++source) {
    const Arrival& arrival = program.arrivals[step.first_arrival + source];
    const bool is_destination =
        &cell(rank, at.segment, operands[source + 1], 0, step.extent_first) ==
        &cell(rank, at.segment, operands[0], 0, step.extent_first);
    if (is_destination && arrival.peer >= 0) {
      refuse_programs(context(rank) + ": waits for its own destination, which goes first");
    }
    if (is_destination && taken.empty()) return {source};
    if (std::find(taken.begin(), taken.end(), source) != taken.end()) continue;
    if (arrival.peer < 0 || arrived(rank, at, arrival) != nullptr) ready.push_back(source);
  }
  return ready;
}

// Reads one source and combines it into what the destination holds by now.
void SimulatedRun::take_source(int32_t rank, SimulatedStep at, int32_t source) {
  const Program& program = what_.programs[rank];
  const Step& step = program.steps[at.step];
  const Operand* operands = &program.operands[step.first_operand];
  const Arrival& arrival = program.arrivals[step.first_arrival + source];
  Rank& self = ranks_[rank];
  if (arrival.peer >= 0) wait(rank, arrived(rank, at, arrival));
  const Access access{rank, ++self.clock[rank], at.step, at.segment, self.operation};
  for (int32_t k = 0; k < step.extent_count; ++k) {
    const int32_t extent = step.extent_first + k;
    OrderedCell& from = cell(rank, at.segment, operands[source + 1], k, extent);
    OrderedCell& to = cell(rank, at.segment, operands[0], k, extent);
    if (const auto race = from.read(access, self.clock))
      refuse_race(rank, "reads", operands[source + 1], k, *race);
    check_source(rank, from.symbol(), operands[source + 1], k, extent);
    const uint64_t partial = self.taken.empty() ? 0 : to.symbol().expression;
    const Symbol result{added_expression(partial, from.symbol().expression), extent};
    if (const auto race = to.write(access, self.clock, result))
      refuse_race(rank, "writes", operands[0], k, *race);
  }
}

bool SimulatedRun::move_any(int32_t rank, SimulatedStep at) {
  Rank& self = ranks_[rank];
  const Step& step = what_.programs[rank].steps[at.step];
  const Operand& destination = what_.programs[rank].operands[step.first_operand];
  check_destination(rank, destination);
  const bool shared = destination.space == Space::slot || destination.space == Space::line;
  if (shared && !reserve(rank)) return false;
  const std::vector<int32_t> ready = ready_sources(rank, at);
  if (ready.empty()) return false;
  const int32_t source = ready[random_() % ready.size()];
  take_source(rank, at, source);
  self.taken.push_back(source);
  if (static_cast<int32_t>(self.taken.size()) == step.operand_count - 1) self.taken.clear();
  return true;
}

}  // namespace tutti::plan
