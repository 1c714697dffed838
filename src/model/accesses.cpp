#include "model/virtual_run.h"

#include <algorithm>

#include "base/error.h"
#include "model/lengths.h"

namespace tutti::model {

using plan::Operand;
using plan::Program;
using plan::Space;
using plan::Step;

void VirtualRun::begin_access(int32_t rank, size_t link, double work, double shared, double bytes) {
  const double share = work > 0 ? std::min(1.0, shared / work) : 0;
  links_.links()[link].begin(time_, work, share, bytes, rank);
  of(rank).moving = true;
  schedule(link);
}

double VirtualRun::length_of(const Program& mine, int32_t first, int32_t count,
                             int64_t segment) const {
  return model::length_of(mine, geometry_, question_.bytes, first, count, segment);
}

bool VirtualRun::continues(const Program& mine, double bytes, int64_t segment) const {
  return segment > 0 && (mine.parted || bytes >= length_of(mine, 0, mine.blocks, segment));
}

VirtualRun::Progress VirtualRun::reach(int32_t rank, const Operand& source, double bytes,
                                       double whole, bool combines, int32_t blocks,
                                       int64_t segment) {
  Rank& self = of(rank);
  const int32_t holder = places_.holder_of(rank, source, blocks, segment);
  const bool past = places_.is_past_cache(holder, source, bytes, whole);
  if ((holder == rank && !past) || source.space == Space::line || bytes == 0) return Progress::done;
  if (std::exchange(self.moved, false)) return Progress::done;
  if (self.now > time_) {
    resume(rank, self.now);
    return Progress::later;
  }
  // Its own data that is in memory comes over the link over which others read it.
  const size_t link =
      holder == rank ? places_.readers_of(rank, source).link : links_.between(rank, holder);
  const LevelCost& cost = links_.cost(link);
  const bool goes_on = continues(program(rank), bytes, segment);
  const bool same =
      combines && cost.add_same && source.rank != rank && places_.is_read_by_owner(source, blocks);
  double work = (combines ? cost.add : cost.byte).time(bytes, whole, goes_on);
  if (comes_by_system(source, rank))
    work = system_of(cost).time(bytes, whole, goes_on);
  else if (past)
    work += cost.byte_past->time(bytes, whole, goes_on) - cost.byte.time(bytes, whole, goes_on);
  else if (same)
    work = std::max(work, cost.add_same->time(bytes, whole, goes_on));
  const ByteCost& shared = combines && cost.shared_add ? *cost.shared_add : cost.shared;
  double together = shared.time(bytes, whole_of(rank, source), goes_on);
  if (same) together = std::min(together, work / 2);  // two ranks at once have measured `work`
  self.reading += work;
  begin_access(rank, link, work, together, bytes);
  return Progress::later;
}

VirtualRun::Progress VirtualRun::write(int32_t rank, const Operand& to, double bytes, double whole,
                                       bool moves, bool copies, int64_t segment) {
  Rank& self = of(rank);
  const DataPlaces::Readers readers = places_.readers_of(rank, to);
  if (readers.cost == nullptr || bytes == 0 || std::exchange(self.moved, false))
    return Progress::done;
  if (self.now > time_) {
    resume(rank, self.now);
    return Progress::later;
  }
  const LevelCost& cost = *readers.cost;
  const bool goes_on = continues(program(rank), bytes, segment);
  const bool past =
      to.space == Space::slot && copies && DataPlaces::goes_past_cache(cost, bytes, whole);
  const ByteCost* write = &machine_.own.copy;
  if (to.space != Space::slot)
    write = &*cost.write_in_place;
  else if (past)
    write = &*cost.write_past;
  else if (cost.write)
    write = &*cost.write;
  double work = write->time(bytes, whole, goes_on);
  const double copy = machine_.own.copy.time(bytes, whole, goes_on);
  if (!moves) work = std::max(0.0, work - std::max(copy, self.reading));
  if (work == 0) return Progress::done;
  const ByteCost& shared = cost.shared_write && !past ? *cost.shared_write : cost.shared;
  begin_access(rank, readers.link, work, shared.time(bytes, whole_of(rank, to), goes_on), bytes);
  return Progress::later;
}

void VirtualRun::schedule(size_t link) {
  ++scheduled_[link];
  const SharedLink& shared = links_.links()[link];
  if (!shared.is_idle())
    queue_.push(
        {std::max(shared.next_end(), time_), ++order_, Kind::access_ends, link, scheduled_[link]});
}

void VirtualRun::end_access(size_t link, uint32_t version) {
  if (version != scheduled_[link]) return;
  const size_t user = links_.links()[link].end(time_);
  schedule(link);
  if (user >= ranks_.size()) return end_flight(flights_[user - ranks_.size()]);
  ranks_[user].moving = false;
  ranks_[user].moved = true;
  advance(static_cast<int32_t>(user));
}

double VirtualRun::whole_of(int32_t rank, const Operand& operand) const {
  const auto bytes = static_cast<double>(question_.bytes);
  const Program& mine = program(rank);
  switch (operand.space) {
    case Space::in: return bytes * (plan::parted_in(mine.collective) ? mine.ranks : 1);
    case Space::out: return bytes * (plan::parted_out(mine.collective) ? mine.ranks : 1);
    case Space::slot:
      return static_cast<double>(geometry_.position_bytes) *
             static_cast<double>(geometry_.positions);
    default: return 0;
  }
}

bool VirtualRun::comes_by_system(const Operand& operand, int32_t rank) const {
  return operand.bypassable && operand.rank != rank && question_.travel.bypasses_by_system &&
         !question_.travel.bypasses_mapped;
}

const ByteCost& VirtualRun::system_of(const LevelCost& cost) const {
  if (!cost.system)
    throw Error(Code::invalid_argument, "machine '" + machine_.name +
                                            "' has no costs of the system's copies; add "
                                            "\"system\" to the level '" +
                                            cost.name + "' in its file");
  return *cost.system;
}

bool VirtualRun::is_own(const Operand& operand, int32_t rank) {
  return operand.rank == rank || operand.space == Space::line;
}

bool VirtualRun::is_here(const Operand& source, int32_t rank, int32_t blocks,
                         int64_t segment) const {
  return is_own(source, rank) && places_.holder_of(rank, source, blocks, segment) == source.rank;
}

VirtualRun::Progress VirtualRun::move(int32_t rank, const Step& step, int64_t segment) {
  Rank& self = of(rank);
  const Program& mine = program(rank);
  const Operand* const operands = &mine.operands[static_cast<size_t>(step.first_operand)];
  if (step.elidable && bypasses(question_.travel)) return Progress::done;
  const double bytes = length_of(mine, step.extent_first, step.extent_count, segment);
  if (self.operand == 0) {
    self.now += machine_.own.step;
    self.operand = 1;
    self.reading = 0;
  }
  const bool combines = plan::properties_of(step.kind).group == plan::StepGroup::reducing;
  double whole = bytes;  // bytes of the largest buffer that takes part
  for (int32_t i = 0; i < step.operand_count; ++i)
    whole = std::max(whole, whole_of(rank, operands[i]));
  for (; self.operand < step.operand_count; ++self.operand)
    if (reach(rank, operands[self.operand], bytes, whole, combines, step.extent_count, segment) ==
        Progress::later)
      return Progress::later;
  // Data from others is combined with the first source as it arrives, but for the data that the
  // system copies: that lies in this rank's memory first.
  int32_t own = 0;
  for (int32_t i = 1; i < step.operand_count; ++i)
    if (is_here(operands[i], rank, step.extent_count, segment) ||
        (combines && comes_by_system(operands[i], rank)))
      ++own;
  const bool moves = !combines && own == 1 && operands[0].space != Space::line;
  const bool is_plain = places_.readers_of(rank, operands[0]).cost == nullptr;
  if (write(rank, operands[0], bytes, whole, moves, !combines, segment) == Progress::later)
    return Progress::later;
  const bool goes_on = continues(mine, bytes, segment);
  if (combines)
    self.now += std::max(0, own - 1) * machine_.own.combine.time(bytes, whole, goes_on);
  else if (moves && is_plain)
    self.now += machine_.own.copy.time(bytes, whole, goes_on);
  places_.note_read(rank, step, segment);
  note(rank, segment, -1, bytes);
  return Progress::done;
}

VirtualRun::Progress VirtualRun::move_any(int32_t rank, const Step& step, int64_t segment) {
  Rank& self = of(rank);
  const Program& mine = program(rank);
  const Operand* const operands = &mine.operands[static_cast<size_t>(step.first_operand)];
  const double bytes = length_of(mine, step.extent_first, step.extent_count, segment);
  if (self.taken.empty()) {
    self.now += machine_.own.step;
    self.taken.assign(static_cast<size_t>(step.operand_count), false);
  }
  while (std::count(self.taken.begin(), self.taken.end(), true) < step.operand_count - 1) {
    if (self.operand == 0) self.operand = first_here(rank, step, segment);
    if (self.operand == 0) return Progress::later;
    const double whole = std::max(bytes, whole_of(rank, operands[self.operand]));
    if (reach(rank, operands[self.operand], bytes, whole, true, step.extent_count, segment) ==
        Progress::later)
      return Progress::later;
    const bool is_first = std::count(self.taken.begin(), self.taken.end(), true) == 0;
    const Operand& source = operands[self.operand];
    const bool lies_here =
        is_here(source, rank, step.extent_count, segment) || comes_by_system(source, rank);
    if (lies_here && !is_first)
      self.now += machine_.own.combine.time(bytes, whole_of(rank, operands[self.operand]));
    self.taken[static_cast<size_t>(self.operand)] = true;
    self.operand = 0;
  }
  places_.note_read(rank, step, segment);
  note(rank, segment, -1, bytes);
  return Progress::done;
}

}  // namespace tutti::model
