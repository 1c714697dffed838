#include "model/data_places.h"

#include <algorithm>
#include <optional>

#include "exec/slot_stores.h"
#include "exec/slow_stores.h"

namespace tutti::model {

using plan::Operand;
using plan::Program;
using plan::Space;
using plan::Step;
using plan::StepKind;

DataPlaces::DataPlaces(const Question& question, const Links& links)
    : question_(question), programs_(question.programs), links_(links) {
  find_readers();
  find_pushes();
  if (any_add_same()) find_own_reads();
}

void DataPlaces::find_readers() {
  slot_readers_.assign(programs_.size(), {});
  for (const Program& mine : programs_)
    for (const Step& step : mine.steps) {
      const auto first = static_cast<size_t>(step.first_operand);
      const auto count = static_cast<size_t>(step.operand_count);
      for (size_t i = 1; i < count; ++i) add_reader(mine.rank, mine.operands[first + i], step);
    }
}

void DataPlaces::add_reader(int32_t reader, const Operand& source, const Step& step) {
  if (source.rank == reader || source.space == Space::line) return;
  const size_t link = links_.between(reader, source.rank);
  const LevelCost& cost = links_.cost(link);
  const auto keep = [&](Readers& most, std::optional<ByteCost> LevelCost::* write) {
    constexpr double page = 4096;
    if (cost.*write &&
        (most.cost == nullptr || (cost.*write)->at(page) > (most.cost->*write)->at(page)))
      most = {link, &cost};
  };
  if (!is_in_place(source))
    return keep(slot_readers_[static_cast<size_t>(source.rank)], &LevelCost::write);
  if (cost.write_in_place)
    for (int32_t k = 0; k < step.extent_count; ++k)
      keep(read_in_place_[place_of(source, k)], &LevelCost::write_in_place);
}

bool DataPlaces::is_in_place(const Operand& operand) const {
  return operand.bypassable && bypasses(question_.travel);
}

DataPlaces::Place DataPlaces::place_of(const Operand& operand, int32_t further) const {
  const bool elsewhere = is_in_place(operand);
  return {operand.rank, elsewhere ? operand.bypass_space : operand.space,
          (elsewhere ? operand.bypass_block : operand.block) + further};
}

void DataPlaces::find_pushes() {
  for (const Program& mine : programs_)
    for (const Step& step : mine.steps) {
      if (step.operand_count == 0) continue;
      const Operand& to = mine.operands[static_cast<size_t>(step.first_operand)];
      if (to.space == Space::line) continue;
      if (step.kind == StepKind::copy)
        for (int32_t k = 0; k < step.extent_count; ++k) copied_.insert(place_of(to, k));
      if (to.rank == mine.rank) continue;
      for (int32_t k = 0; k < step.extent_count; ++k) pushed_[place_of(to, k)] = {mine.rank, -1};
    }
}

int32_t DataPlaces::holder_of(int32_t rank, const Operand& source, int32_t blocks,
                              int64_t segment) const {
  if (source.rank != rank || pushed_.empty()) return source.rank;
  for (int32_t k = 0; k < blocks; ++k)
    if (const auto found = pushed_.find(place_of(source, k));
        found != pushed_.end() && found->second.read < segment)
      return found->second.writer;
  return rank;
}

void DataPlaces::note_read(int32_t rank, const Step& step, int64_t segment) {
  if (pushed_.empty()) return;
  const Operand* const operands =
      &programs_[static_cast<size_t>(rank)].operands[static_cast<size_t>(step.first_operand)];
  for (int32_t i = 1; i < step.operand_count; ++i)
    for (int32_t k = 0; operands[i].rank == rank && k < step.extent_count; ++k)
      if (const auto found = pushed_.find(place_of(operands[i], k)); found != pushed_.end())
        found->second.read = segment;
}

void DataPlaces::find_own_reads() {
  for (const Program& mine : programs_)
    for (const Step& step : mine.steps) {
      if (plan::properties_of(step.kind).group != plan::StepGroup::reducing) continue;
      const Operand* const operands = &mine.operands[static_cast<size_t>(step.first_operand)];
      for (int32_t i = 1; i < step.operand_count; ++i)
        for (int32_t k = 0; operands[i].rank == mine.rank && k < step.extent_count; ++k)
          own_reads_.insert(place_of(operands[i], k));
    }
}

bool DataPlaces::any_add_same() const {
  return std::any_of(question_.machine.levels.begin(), question_.machine.levels.end(),
                     [](const LevelCost& level) { return level.add_same.has_value(); });
}

bool DataPlaces::is_read_by_owner(const Operand& operand, int32_t blocks) const {
  for (int32_t k = 0; k < blocks; ++k)
    if (own_reads_.contains(place_of(operand, k))) return true;
  return false;
}

DataPlaces::Readers DataPlaces::readers_of(int32_t rank, const Operand& to) const {
  if (to.space == Space::line) return {};
  if (to.rank != rank) {
    const size_t link = links_.between(rank, to.rank);
    return {link, &links_.cost(link)};
  }
  if (to.space == Space::slot) return slot_readers_[static_cast<size_t>(rank)];
  const auto found = read_in_place_.find({to.rank, to.space, to.block});
  return found == read_in_place_.end() ? Readers{} : found->second;
}

bool DataPlaces::is_past_cache(int32_t writer, const Operand& source, double bytes,
                               double whole) const {
  if (source.space != Space::slot || is_in_place(source) || !copied_.contains(place_of(source, 0)))
    return false;
  const Readers readers = readers_of(writer, source);
  return readers.cost != nullptr && readers.cost->byte_past &&
         goes_past_cache(*readers.cost, bytes, whole);
}

bool DataPlaces::goes_past_cache(const LevelCost& cost, double bytes, double whole) {
  if (!cost.write_past || bytes < static_cast<double>(exec::SlotStores::least_bytes)) return false;
  const double timed = std::max(bytes, static_cast<double>(exec::least_timed));
  const double lines = timed / static_cast<double>(exec::stored_line);
  return cost.write->time(timed, whole) > lines * exec::slow_nanoseconds;
}

}  // namespace tutti::model
