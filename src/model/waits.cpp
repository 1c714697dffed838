#include "model/virtual_run.h"

#include <algorithm>
#include <cmath>

namespace tutti::model {

using plan::Program;
using plan::Step;

void VirtualRun::find_awaited() {
  for (const Program& mine : programs_)
    for (const Step& step : mine.steps) {
      const auto awaited = plan::awaited_number(mine, step, 0, segments_);
      if (awaited) awaits_.insert({mine.rank, awaited->peer});
    }
}

std::optional<VirtualRun::Told> VirtualRun::find(int32_t rank, const plan::AwaitedNumber& awaited,
                                                 bool in_line, int32_t line) {
  const Rank& peer = of(awaited.peer);
  Told told;
  if (in_line) {
    told = peer.lines[static_cast<size_t>(line)];
    if (told.number != awaited.number) return std::nullopt;
  } else {
    const auto found =
        std::lower_bound(peer.words.begin(), peer.words.end(), awaited.number,
                         [](const Told& one, int64_t least) { return one.number < least; });
    if (found == peer.words.end()) return std::nullopt;
    told = *found;
  }
  const LevelCost& cost = links_.cost(links_.between(rank, awaited.peer));
  told.time += cost.exchange && crosses(rank, awaited.peer, told.time, cost.hand_over)
                   ? *cost.exchange
                   : cost.hand_over;
  return told;
}

bool VirtualRun::crosses(int32_t rank, int32_t peer, double time, double hand_over) const {
  const Rank& self = ranks_[static_cast<size_t>(rank)];
  return std::abs(self.told - time) < hand_over && awaits_.contains({peer, rank});
}

VirtualRun::Progress VirtualRun::wait(int32_t rank, const Step& step, int64_t segment) {
  const auto awaited = plan::awaited_number(program(rank), step, segment, segments_);
  if (!awaited) return Progress::done;
  Rank& self = of(rank);
  const bool in_line = plan::properties_of(step.kind).form == plan::StepForm::peer_line;
  const auto told = find(rank, *awaited, in_line, step.line);
  if (!told) {
    of(awaited->peer).waiting.push_back(rank);
    return Progress::later;
  }
  if (in_line && fetch_line(rank, awaited->peer, told->time) == Progress::later)
    return Progress::later;
  // The wait goes on until then, and nobody else is concerned.
  self.now = std::max(self.now, told->time);
  if (self.now > self.begin) note(rank, segment, told->event);
  return Progress::done;
}

double VirtualRun::time_of_line(const ByteCost& cost) {
  constexpr double line = 64, lines = 64;
  return (cost.time(lines * line, 0) - cost.time(line, 0)) / (lines - 1);
}

VirtualRun::Progress VirtualRun::fetch_line(int32_t rank, int32_t peer, double seen) {
  Rank& self = of(rank);
  if (std::exchange(self.moved, false)) return Progress::done;
  const size_t link = links_.between(rank, peer);
  const LevelCost& cost = links_.cost(link);
  const double alone = time_of_line(cost.byte);
  const double begin = std::max(self.now, seen - alone);
  if (begin > time_) {
    resume(rank, begin);
    return Progress::later;
  }
  begin_access(rank, link, alone, time_of_line(cost.shared), 64);
  return Progress::later;
}

int32_t VirtualRun::first_here(int32_t rank, const Step& step, int64_t segment) {
  Rank& self = of(rank);
  const Program& mine = program(rank);
  int32_t first = 0;
  double when = 0;
  for (int32_t i = 1; i < step.operand_count; ++i) {
    if (self.taken[static_cast<size_t>(i)]) continue;
    const plan::Arrival& arrival = mine.arrivals[static_cast<size_t>(step.first_arrival + i - 1)];
    const auto awaited = plan::awaited_number(mine, arrival, segment);
    if (!awaited) return i;
    const auto told = find(rank, *awaited, mine.uses_lines, arrival.line);
    if (!told)
      of(awaited->peer).waiting.push_back(rank);
    else if (first == 0 || told->time < when)
      std::tie(first, when) = std::pair(i, told->time);
  }
  if (first == 0 || when <= std::max(self.now, time_)) return first;
  resume(rank, when);
  return 0;
}

}  // namespace tutti::model
