#include "plan/writer.h"

#include <algorithm>

#include "plan/fault.h"
#include "plan/text.h"

namespace tutti::plan {

Writer::Writer(const Plan& staged, const Dependences& dependences, int32_t rank, Carrier carrier,
               const Facts& facts, BlockTable<Held>& held, const Slice* slice)
    : staged_(staged),
      slice_(slice),
      elidable_(dependences.elidable),
      carrier_(carrier),
      facts_(facts),
      held_(held) {
  program_.collective = staged.collective;
  program_.algorithm = staged.algorithm;
  program_.ranks = staged.ranks;
  program_.rank = rank;
  program_.root = staged.root;
  program_.last_segment = staged.last_segment;
  program_.parted = parted(staged.collective);
  program_.blocks = program_.parted ? 1 : staged.blocks;
  program_.transfers = static_cast<int32_t>(staged.transfers.size());
  program_.stages = staged.transfers.empty() ? 1 : staged.transfers.back().stage + 1;
  if (slice != nullptr) {
    program_.transfers = slice->transfers;
    program_.stages = slice->stages;
  }
  program_.uses_lines = carrier == Carrier::line;
  program_.has_elidable_copies = elidable_.any;
  program_.elides_in_place = elidable_.any && elidable_.in_place[rank];
}

Step& Writer::step(StepKind kind, int32_t serves, int32_t target) {
  Step step;
  step.kind = kind;
  step.stage = staged_.transfers[serves].stage;
  step.number = number(target);
  step.number_stage = staged_.transfers[target].stage;
  program_.steps.push_back(step);
  return program_.steps.back();
}

void Writer::move(int32_t i, std::span<const int32_t> arrivals) {
  const Transfer& transfer = staged_.transfers[i];
  if (!has_data(staged_.collective) || transfer.kind == TransferKind::token) return;
  auto run = [](const Region& region) { return region.count == 1 || region.stride == 1; };
  const bool whole = run(transfer.dst) &&
                     std::all_of(transfer.src.begin(), transfer.src.end(), run) &&
                     (!program_.parted || transfer.dst.count == 1) &&
                     (transfer.dst.count == 1 || transfer.dst.buffer != Buffer::tmp ||
                      transfer.src.front().buffer != Buffer::tmp);
  const int32_t pieces = whole ? 1 : transfer.dst.count;
  const auto first_arrival = static_cast<int32_t>(program_.arrivals.size());
  for (int32_t source : arrivals) program_.arrivals.push_back(arrival(source));
  StepKind kind = arrivals.empty() ? StepKind::reduce : StepKind::reduce_any;
  if (transfer.kind == TransferKind::copy) kind = StepKind::copy;
  for (int32_t piece = 0; piece < pieces; ++piece) {
    Step& move = step(kind, i, i);
    move.first_arrival = first_arrival;
    move.elidable = is_elidable(i);
    move.extent_first = pieces == 1 ? facts_.extent[i] : extent_of_piece(i, piece);
    move.extent_count = whole ? transfer.dst.count : 1;
    move.first_operand = static_cast<int32_t>(program_.operands.size());
    move.operand_count = static_cast<int32_t>(transfer.src.size()) + 1;
    program_.operands.push_back(operand(transfer.dst, piece, i));
    for (size_t k = 0; k < transfer.src.size(); ++k) {
      program_.operands.push_back(source(i, k, piece));
    }
  }
}

void Writer::message(int32_t i) {
  static constexpr StepKind kinds[] = {StepKind::post, StepKind::send, StepKind::receive,
                                       StepKind::sent};
  const Transfer& transfer = staged_.transfers[i];
  const auto place =
      message_of_.try_emplace(transfer.message, static_cast<int32_t>(program_.messages.size()));
  if (place.second) program_.messages.push_back(end_of(transfer));
  const auto kind = static_cast<size_t>(transfer.kind) - static_cast<size_t>(TransferKind::post);
  step(kinds[kind], i, i).message = place.first->second;
}

void Writer::wait_for_readers(const std::vector<int32_t>& readings) {
  for (int32_t reading : readings) {
    Step& wait = step(StepKind::wait_return, reading, reading);
    wait.stage = program_.stages - 1;
    wait.peer = staged_.transfers[reading].executor();
  }
}

Message Writer::end_of(const Transfer& transfer) {
  const Facts::Ends& ends = facts_.messages[transfer.message];
  Message message;
  message.sends = transfer.push;
  message.peer = transfer.push ? transfer.dst.rank : transfer.src.front().rank;
  message.number = number(ends.send);
  message.number_stage = stage_of(ends.send);
  message.posted = number(ends.post);
  message.posted_stage = stage_of(ends.post);
  message.in_flight = message.sends ? stage_of(ends.sent) - stage_of(ends.send) + 1
                                    : stage_of(ends.receive) - stage_of(ends.post) + 1;
  message.first_request = program_.requests;
  program_.requests += message.in_flight;
  message.first_piece = static_cast<int32_t>(program_.pieces.size());
  if (!has_data(staged_.collective)) return message;
  const Region& here = message.sends ? transfer.src.front() : transfer.dst;
  int32_t writer = message.sends ? -1 : ends.receive;
  if (message.sends && here.buffer == Buffer::tmp && here.count > 0)
    writer = facts_.source_writer[ends.send].front();
  for (int32_t k = 0; k < here.count; ++k)
    append_piece(message, here, k, ends.extents[static_cast<size_t>(k)], writer);
  return message;
}

void Writer::append_piece(Message& message, const Region& here, int32_t k, int32_t extent,
                          int32_t writer) {
  Piece* const last = message.piece_count > 0 ? &program_.pieces.back() : nullptr;
  const bool goes_on = last != nullptr && here.stride == 1 && !program_.parted &&
                       extent == last->extent_first + last->extent_count;
  if (goes_on) {
    ++last->extent_count;
    return;
  }
  program_.pieces.push_back({operand(here, k, writer), extent, 1});
  ++message.piece_count;
}

int32_t Writer::extent_of_piece(int32_t i, int32_t piece) const {
  const Transfer& transfer = staged_.transfers[i];
  const Region& region = transfer.dst.buffer == Buffer::tmp ? transfer.src.front() : transfer.dst;
  const int32_t block = region.first + piece * region.stride;
  return region.buffer != Buffer::tmp ? item_of(staged_, region, block)
                                      : held_.at(region.rank, Buffer::tmp, block).extent;
}

Arrival Writer::arrival(int32_t earlier) const {
  if (earlier < 0) return {};
  const Transfer& transfer = staged_.transfers[earlier];
  return {transfer.executor(), number(earlier), transfer.stage, std::max(facts_.line[earlier], 0)};
}

// A line that another rank has read is in that rank's cache, so its owner takes what it has copied
// to the line from where it copied it. In a call in place, `in` is what `out` was before the first
// write.
bool Writer::reads_its_own(int32_t i, int32_t writer) const {
  const Transfer& origin = staged_.transfers[writer];
  const int32_t rank = staged_.transfers[i].executor();
  if (origin.executor() != rank || origin.src.size() != 1 ||
      origin.src.front().buffer != Buffer::in || origin.src.front().rank != rank)
    return false;
  return facts_.first_out[rank] >= i;
}

Operand Writer::source(int32_t i, size_t k, int32_t piece) const {
  const Transfer& transfer = staged_.transfers[i];
  const int32_t writer = facts_.source_writer[i][k];
  const bool on_line = carrier_ == Carrier::line && transfer.src[k].buffer == Buffer::tmp;
  if (on_line && writer < 0) {
    refuse(place(staged_, i), "it reads " + print(transfer.src[k]) +
                                  ", which nobody wrote; check a plan before it is lowered");
  }
  if (on_line && reads_its_own(i, writer))
    return operand(staged_.transfers[writer].src.front(), piece, -1);
  Operand source = operand(transfer.src[k], piece, writer);
  if (source.space == Space::slot) {
    const Held& held = held_.at(source.rank, Buffer::tmp, source.block);
    if (held.elidable) {
      source.bypassable = true;
      source.bypass_space = held.buffer == Buffer::in ? Space::in : Space::out;
      source.bypass_block = held.block;
    }
  }
  return source;
}

Operand Writer::operand(const Region& region, int32_t piece, int32_t writer) const {
  Operand operand;
  operand.rank = region.rank;
  operand.block = region.first + piece * region.stride;
  if (region.buffer != Buffer::tmp) {
    operand.space = region.buffer == Buffer::in ? Space::in : Space::out;
  } else if (carrier_ == Carrier::slot) {
    operand.space = Space::slot;
  } else {
    operand = {Space::line, staged_.transfers[writer].executor(), facts_.line[writer], 0};
  }
  return operand;
}

}  // namespace tutti::plan
