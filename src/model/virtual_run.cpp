#include "model/virtual_run.h"

#include <algorithm>

#include "base/error.h"
#include "model/lengths.h"

namespace tutti::model {

using plan::Program;
using plan::Step;
using plan::StepKind;

VirtualRun::VirtualRun(const Question& question)
    : question_(question),
      programs_(question.programs),
      machine_(question.machine),
      geometry_(question.travel.geometry),
      segments_{geometry_.segments, geometry_.positions},
      links_(question),
      places_(question, links_),
      ranks_(programs_.size()),
      scheduled_(links_.links().size(), 0),
      out_(links_.nodes()),
      in_(out_) {
  find_awaited();
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    Rank& self = ranks_[rank];
    self.lines.resize(static_cast<size_t>(programs_[rank].lines));
    self.now = (question.arrivals.empty() ? 0 : question.arrivals[rank]) + machine_.own.call / 2;
    resume(static_cast<int32_t>(rank), self.now);
  }
}

Prediction VirtualRun::run() {
  while (!queue_.empty()) {
    const Happening next = queue_.top();
    queue_.pop();
    time_ = next.time;
    switch (next.kind) {
      case Kind::rank_goes_on:
        if (next.version == ranks_[next.index].version) advance(static_cast<int32_t>(next.index));
        break;
      case Kind::access_ends: end_access(next.index, next.version); break;
      case Kind::message_leaves: leave(flights_[next.index], next.index); break;
      case Kind::message_arrives: arrive(flights_[next.index]); break;
    }
  }
  return result();
}

void VirtualRun::resume(int32_t rank, double time) {
  queue_.push({std::max(time, time_), ++order_, Kind::rank_goes_on, static_cast<size_t>(rank),
               ++of(rank).version});
}

void VirtualRun::advance(int32_t rank) {
  Rank& self = of(rank);
  if (self.moving || self.ended) return;
  self.now = std::max(self.now, time_);
  const Program& mine = program(rank);
  for (; self.tick < plan::ticks_of(segments_.count, mine.stages); ++self.tick) {
    for (; self.step < mine.steps.size(); ++self.step) {
      const Step& step = mine.steps[self.step];
      const int64_t segment = plan::segment_at(self.tick, step.stage);
      if (segment < 0 || segment >= segments_.count) continue;
      if (!self.begun) begin_step(self);
      if (execute(rank, step, segment) == Progress::later) return;
      self.begun = false;
    }
    self.step = 0;
  }
  self.ended = true;
  tell(rank, INT64_MAX);  // whoever waits for a later number waits for the end
  self.now += machine_.own.call / 2;
}

void VirtualRun::begin_step(Rank& self) {
  self.begun = true;
  self.begin = self.now;
  self.operand = 0;
  self.taken.clear();
}

VirtualRun::Progress VirtualRun::execute(int32_t rank, const Step& step, int64_t segment) {
  switch (step.kind) {
    case StepKind::wait_return:
      if (!bypasses(question_.travel)) return Progress::done;
      [[fallthrough]];
    case StepKind::wait_word:
    case StepKind::wait_line:
    case StepKind::wait_reuse:
    case StepKind::wait_before: return wait(rank, step, segment);
    case StepKind::publish:
    case StepKind::stamp: {
      of(rank).now += machine_.own.step;
      note(rank, segment);
      const int64_t number = plan::own_number(program(rank), step, segment);
      if (step.kind == StepKind::stamp)
        of(rank).lines[static_cast<size_t>(step.line)] = {number, of(rank).now, of(rank).last};
      tell(rank, number);
      return Progress::done;
    }
    case StepKind::reduce_any: return move_any(rank, step, segment);
    case StepKind::post:
    case StepKind::send: return start_message(rank, step, segment);
    case StepKind::receive:
    case StepKind::sent: return end_message(rank, step, segment);
    default: return move(rank, step, segment);  // the kinds whose form is `blocks`
  }
}

void VirtualRun::note(int32_t rank, int64_t segment, int32_t cause, double bytes) {
  Rank& self = of(rank);
  const auto event = static_cast<int32_t>(events_.size());
  events_.push_back({rank, static_cast<int32_t>(self.step), segment, self.begin, self.now, bytes,
                     self.last, cause});
  self.last = event;
}

void VirtualRun::tell(int32_t rank, int64_t number) {
  Rank& self = of(rank);
  if (self.words.empty() || number > self.words.back().number)
    self.words.push_back({number, self.now, self.last});
  self.told = self.now;
  for (const int32_t waiter : std::exchange(self.waiting, {})) resume(waiter, self.now);
}

Prediction VirtualRun::result() {
  Prediction found;
  double first = question_.arrivals.empty() ? 0 : question_.arrivals.front();
  for (const double arrival : question_.arrivals) first = std::min(first, arrival);
  int32_t last = -1;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!ranks_[rank].ended)
      throw Error(Code::internal, "in virtual time rank " + std::to_string(rank) +
                                      " never ends: its program waits for what no rank tells");
    const double end = ranks_[rank].now - first;
    if (last < 0 || end > found.time) last = ranks_[rank].last;
    found.time = std::max(found.time, end);
    found.ends.push_back(end);
  }
  for (int32_t event = last; event >= 0;) {
    found.critical.push_back(event);
    const Event& at = events_[static_cast<size_t>(event)];
    event = at.cause >= 0 ? at.cause : at.before;
  }
  std::reverse(found.critical.begin(), found.critical.end());
  found.events = std::move(events_);
  for (size_t link = 0; link < links_.links().size(); ++link) {
    const SharedLink& shared = links_.links()[link];
    if (shared.most() > 0)
      found.loads.push_back({links_.name(link), shared.busy(), shared.bytes(), shared.most()});
  }
  add_adapters(found.loads, out_, "messages from node ");
  add_adapters(found.loads, in_, "messages to node ");
  return found;
}

void VirtualRun::add_adapters(std::vector<Load>& loads, const std::vector<Adapter>& adapters,
                              const std::string& name) {
  for (size_t node = 0; node < adapters.size(); ++node)
    if (const Adapter& one = adapters[node]; one.messages > 0)
      loads.push_back({name + std::to_string(node), one.busy, one.bytes, one.messages});
}

}  // namespace tutti::model
