#include "plan/lower.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "plan/blocks.h"
#include "plan/fault.h"
#include "plan/offers.h"
#include "plan/text.h"

namespace tutti::plan {

bool lines_serve(const Plan& staged) {
  if (staged.blocks > 1 && !parted(staged.collective)) return false;
  auto single = [](const Region& region) { return region.count <= 1; };
  for (const Transfer& transfer : staged.transfers) {
    if (!single(transfer.dst) || !std::all_of(transfer.src.begin(), transfer.src.end(), single)) return false;
  }
  return true;
}

namespace {

// Posting a message writes nothing yet.
bool writes_tmp(const Transfer& transfer) {
  return transfer.dst.buffer == Buffer::tmp && transfer.dst.count > 0 && transfer.writes() && transfer.kind != TransferKind::post;
}

// What one pass over the staged plan tells about every transfer, whoever executes it.
struct Facts {
  std::vector<int32_t> line;          // which of its executor's lines it writes, or stamps for a token; -1: none
  std::vector<bool> awaited;          // somebody waits for it within its segment
  std::vector<std::vector<int32_t>> source_writer;  // by source: the transfer whose line holds it; -1 for user buffers
  std::vector<int32_t> extent;        // the vector's block whose length the first block of the transfer has
  int32_t lines = 0;                  // the most that a rank writes
  struct Ends {                       // of a message: its four transfers
    int32_t post = -1, send = -1, receive = -1, sent = -1;
    std::vector<int32_t> extents;     // by block
  };
  std::vector<Ends> messages;
  int32_t message_blocks = 0;         // of the largest message
};

std::vector<Facts::Ends> find_messages(const Plan& staged) {
  std::vector<Facts::Ends> messages;
  for (size_t i = 0; i < staged.transfers.size(); ++i) {
    const Transfer& transfer = staged.transfers[i];
    if (!is_message(transfer.kind)) continue;
    const auto message = static_cast<size_t>(transfer.message);
    if (messages.size() <= message) messages.resize(message + 1);
    Facts::Ends& ends = messages[message];
    int32_t* const which[] = {&ends.post, &ends.send, &ends.receive, &ends.sent};
    *which[static_cast<size_t>(transfer.kind) - static_cast<size_t>(TransferKind::post)] = static_cast<int32_t>(i);
  }
  return messages;
}

Facts gather_facts(const Plan& staged, const Dependences& dependences) {
  struct Held {
    int32_t writer = -1;
    int32_t extent = 0;
  };
  using Table = BlockTable<Held>;
  Table table(staged, Table::Aliasing::none);
  const size_t count = staged.transfers.size();
  Facts facts{std::vector<int32_t>(count, -1), std::vector<bool>(count), std::vector<std::vector<int32_t>>(count),
              std::vector<int32_t>(count), 0, find_messages(staged)};
  for (const Facts::Ends& ends : facts.messages)
    facts.message_blocks = std::max(facts.message_blocks, staged.transfers[static_cast<size_t>(ends.receive)].dst.count);
  for (const auto* awaited : {&dependences.waits, &dependences.arrivals}) {
    for (const auto& transfers : *awaited) {
      for (int32_t earlier : transfers) {
        if (earlier >= 0) facts.awaited[earlier] = true;
      }
    }
  }
  std::vector<bool> tells(count);  // what a token waits for: it stamps a line, if only to say that it is done
  for (size_t i = 0; i < count; ++i) {
    if (staged.transfers[i].kind != TransferKind::token) continue;
    for (int32_t earlier : dependences.waits[i]) tells[earlier] = true;
  }
  std::vector<int32_t> lines(staged.ranks, 0);
  for (size_t i = 0; i < count; ++i) {
    const Transfer& transfer = staged.transfers[i];
    if (tells[i] || writes_tmp(transfer)) facts.line[i] = lines[transfer.executor()]++;
    if (transfer.kind == TransferKind::token || transfer.dst.count == 0) continue;
    auto extent_at = [&](const Region& region, int32_t k) {
      const int32_t block = region.first + k * region.stride;
      return region.buffer == Buffer::tmp ? table.at(region.rank, region.buffer, block).extent : block;
    };
    if (transfer.kind == TransferKind::send) {
      const Region& known = transfer.dst.buffer == Buffer::tmp ? transfer.src.front() : transfer.dst;
      std::vector<int32_t>& extents = facts.messages[transfer.message].extents;
      for (int32_t k = 0; k < transfer.dst.count; ++k) extents.push_back(extent_at(known, k));
    }
    facts.extent[i] = transfer.dst.buffer == Buffer::tmp ? extent_at(transfer.src.front(), 0) : transfer.dst.first;
    for (const Region& src : transfer.src) {
      facts.source_writer[i].push_back(
          src.buffer == Buffer::tmp ? table.at(src.rank, src.buffer, src.first).writer : -1);
    }
    if (transfer.dst.buffer != Buffer::tmp || (is_message(transfer.kind) && transfer.kind != TransferKind::receive)) continue;
    for (int32_t k = 0; k < transfer.dst.count; ++k) {
      const Region& src = transfer.src.front();
      const int32_t source_block = src.first + k * src.stride;
      Held held{static_cast<int32_t>(i), source_block};
      if (transfer.kind == TransferKind::receive) {
        held.extent = facts.messages[transfer.message].extents[static_cast<size_t>(k)];  // the source may hold another value by now
      } else if (src.buffer == Buffer::tmp) {
        held.extent = table.at(src.rank, src.buffer, source_block).extent;
      }
      table.at(transfer.dst.rank, Buffer::tmp, transfer.dst.first + k * transfer.dst.stride) = held;
    }
  }
  facts.lines = lines.empty() ? 0 : *std::max_element(lines.begin(), lines.end());
  return facts;
}

// Before the first write of a slot's block in a segment: who touched it in the segment that had this ring position
// before, and the last transfer that did. Also what every rank must publish for that, and how many positions keep
// those waits pointing backwards.
struct Reuse {
  std::vector<std::vector<int32_t>> waits;  // by transfer
  std::vector<bool> awaited;
  int32_t min_positions = 1;
};

void keep_last_of_each_rank(const Plan& staged, std::vector<int32_t>& touches) {
  auto executor = [&](int32_t transfer) { return staged.transfers[transfer].executor(); };
  std::sort(touches.begin(), touches.end(), [&](int32_t one, int32_t other) {
    return executor(one) != executor(other) ? executor(one) < executor(other) : one > other;
  });
  const auto same_rank = [&](int32_t one, int32_t other) { return executor(one) == executor(other); };
  touches.erase(std::unique(touches.begin(), touches.end(), same_rank), touches.end());
}

Reuse find_reuse(const Plan& staged) {
  struct Touches {
    int32_t first_writer = -1;
    std::vector<int32_t> all;  // in plan order; of consecutive ones by one rank only the last
  };
  using Table = BlockTable<Touches>;
  Table table(staged, Table::Aliasing::none);
  const int32_t count = static_cast<int32_t>(staged.transfers.size());
  auto executor = [&](int32_t transfer) { return staged.transfers[transfer].executor(); };
  auto touch = [&](const Region& region, int32_t i, bool writes) {
    if (region.buffer != Buffer::tmp) return;
    table.each(region, [&](Touches& touches) {
      if (writes && touches.first_writer < 0) touches.first_writer = i;
      if (!touches.all.empty() && executor(touches.all.back()) == executor(i)) touches.all.pop_back();
      touches.all.push_back(i);
    });
  };
  for (int32_t i = 0; i < count; ++i) {
    const Transfer& transfer = staged.transfers[i];
    for (size_t k = 0; k < transfer.src.size() && transfer.reads(); ++k) touch(transfer.src[k], i, false);
    if (transfer.writes()) touch(transfer.dst, i, true);
  }
  Reuse reuse{std::vector<std::vector<int32_t>>(count), std::vector<bool>(count), 1};
  for (int32_t i = 0; i < count; ++i) {
    const Transfer& transfer = staged.transfers[i];
    if (transfer.dst.buffer != Buffer::tmp || !transfer.writes()) continue;
    auto& waits = reuse.waits[i];
    table.each(transfer.dst, [&](Touches& touches) {
      if (touches.first_writer != i) return;
      keep_last_of_each_rank(staged, touches.all);
      for (int32_t last : touches.all) {
        reuse.min_positions = std::max(reuse.min_positions, staged.transfers[last].stage - transfer.stage + 1);
        if (executor(last) != transfer.executor()) waits.push_back(last);
      }
    });
    std::sort(waits.begin(), waits.end());
    waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
    for (int32_t last : waits) reuse.awaited[last] = true;
  }
  return reuse;
}

// What a block of tmp holds.
struct Held {
  int32_t extent = 0;  // its length class: that of this block of the vector
  bool offered = false;
  Buffer buffer = Buffer::in;  // of the offer, and which block of it
  int32_t block = 0;
};

// Writes one rank's steps.
class Writer {
 public:
  // `held` tells of every block of tmp what the walk over the plan has left in it.
  Writer(const Plan& staged, const Dependences& dependences, int32_t rank, Carrier carrier, const Facts& facts,
         BlockTable<Held>& held)
      : staged_(staged), offers_(dependences.offers), carrier_(carrier), facts_(facts), held_(held) {
    program_.collective = staged.collective;
    program_.algorithm = staged.algorithm;
    program_.ranks = staged.ranks;
    program_.rank = rank;
    program_.root = staged.root;
    program_.parted = parted(staged.collective);
    program_.blocks = program_.parted ? 1 : staged.blocks;
    program_.transfers = static_cast<int32_t>(staged.transfers.size());
    program_.stages = staged.transfers.empty() ? 1 : staged.transfers.back().stage + 1;
    program_.uses_lines = carrier == Carrier::line;
    program_.has_offers = offers_.any;
    program_.offers_in_place = offers_.any && offers_.in_place[rank];
  }

  Step& step(StepKind kind, int32_t serves, int32_t target) {
    Step step;
    step.kind = kind;
    step.stage = staged_.transfers[serves].stage;
    step.number = target + 1;
    step.number_stage = staged_.transfers[target].stage;
    program_.steps.push_back(step);
    return program_.steps.back();
  }

  // One step where the regions are runs of blocks, one a block where they are not, and a part: runs of parts have gaps in
  // slots. `arrivals` of a transfer in any order go with each: those behind the first find all sources there.
  void move(int32_t i, const std::vector<int32_t>& arrivals) {
    const Transfer& transfer = staged_.transfers[i];
    if (staged_.collective == Collective::barrier || transfer.kind == TransferKind::token) return;
    auto run = [](const Region& region) { return region.count == 1 || region.stride == 1; };
    const bool whole = run(transfer.dst) && std::all_of(transfer.src.begin(), transfer.src.end(), run) &&
                       (!program_.parted || transfer.dst.count == 1) &&
                       (transfer.dst.count == 1 || transfer.dst.buffer != Buffer::tmp ||
                        transfer.src.front().buffer != Buffer::tmp);
    const int32_t pieces = whole ? 1 : transfer.dst.count;
    const auto first_arrival = static_cast<int32_t>(program_.arrivals.size());
    for (int32_t source : arrivals) program_.arrivals.push_back(arrival(source));
    const StepKind kind = transfer.kind == TransferKind::copy ? StepKind::copy
                          : arrivals.empty()                  ? StepKind::reduce
                                                              : StepKind::reduce_any;
    for (int32_t piece = 0; piece < pieces; ++piece) {
      Step& move = step(kind, i, i);
      move.first_arrival = first_arrival;
      move.offer = is_offer(i);
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

  // The step of a message's end, and with the first of the two what it refers to.
  void message(int32_t i) {
    static constexpr StepKind kinds[] = {StepKind::post, StepKind::send, StepKind::receive, StepKind::sent};
    const Transfer& transfer = staged_.transfers[i];
    const auto place = message_of_.try_emplace(transfer.message, static_cast<int32_t>(program_.messages.size()));
    if (place.second) program_.messages.push_back(end_of(transfer));
    const auto kind = static_cast<size_t>(transfer.kind) - static_cast<size_t>(TransferKind::post);
    step(kinds[kind], i, i).message = place.first->second;
  }

  // The last steps.
  void wait_for_readers(const std::vector<int32_t>& readings) {
    for (int32_t reading : readings) {
      Step& wait = step(StepKind::wait_return, reading, reading);
      wait.stage = program_.stages - 1;
      wait.peer = staged_.transfers[reading].executor();
    }
  }

  // This rank's end of a message.
  Message end_of(const Transfer& transfer) {
    const Facts::Ends& ends = facts_.messages[transfer.message];
    Message message;
    message.sends = transfer.push;
    message.peer = transfer.push ? transfer.dst.rank : transfer.src.front().rank;
    message.number = ends.send + 1;
    message.number_stage = stage_of(ends.send);
    message.in_flight = message.sends ? stage_of(ends.sent) - stage_of(ends.send) + 1
                                      : stage_of(ends.receive) - stage_of(ends.post) + 1;
    message.first_request = program_.requests;
    program_.requests += message.in_flight;
    message.first_piece = static_cast<int32_t>(program_.pieces.size());
    if (staged_.collective == Collective::barrier) return message;
    const Region& here = message.sends ? transfer.src.front() : transfer.dst;
    const int32_t writer = !message.sends                ? ends.receive
                           : here.buffer == Buffer::tmp && here.count > 0 ? facts_.source_writer[ends.send].front()
                                                         : -1;
    for (int32_t k = 0; k < here.count; ++k) append_piece(message, here, k, ends.extents[static_cast<size_t>(k)], writer);
    return message;
  }

  // Runs of blocks are one piece; parts lie apart in slots.
  void append_piece(Message& message, const Region& here, int32_t k, int32_t extent, int32_t writer) {
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

  int32_t stage_of(int32_t transfer) const { return staged_.transfers[transfer].stage; }

  bool is_offer(int32_t i) const { return !offers_.offer.empty() && offers_.offer[i]; }

  Program& program() { return program_; }

 private:
  int32_t extent_of_piece(int32_t i, int32_t piece) const {
    const Transfer& transfer = staged_.transfers[i];
    auto block = [&](const Region& region) { return region.first + piece * region.stride; };
    if (transfer.dst.buffer != Buffer::tmp) return block(transfer.dst);
    const Region& src = transfer.src.front();
    return src.buffer != Buffer::tmp ? block(src) : held_.at(src.rank, Buffer::tmp, block(src)).extent;
  }

  Arrival arrival(int32_t earlier) const {
    if (earlier < 0) return {};
    const Transfer& transfer = staged_.transfers[earlier];
    return {transfer.executor(), earlier + 1, transfer.stage, std::max(facts_.line[earlier], 0)};
  }

  Operand source(int32_t i, size_t k, int32_t piece) const {
    const Transfer& transfer = staged_.transfers[i];
    const int32_t writer = facts_.source_writer[i][k];
    const bool on_line = carrier_ == Carrier::line && transfer.src[k].buffer == Buffer::tmp;
    if (on_line && writer < 0) {
      refuse(place(staged_, i),
             "it reads " + print(transfer.src[k]) + ", which nobody wrote; check a plan before it is lowered");
    }
    Operand source = operand(transfer.src[k], piece, writer);
    if (source.space == Space::slot) {
      const Held& held = held_.at(source.rank, Buffer::tmp, source.block);
      source.offered = held.offered;
      source.offered_space = held.buffer == Buffer::in ? Space::in : Space::out;
      source.offered_block = held.block;
    }
    return source;
  }

  Operand operand(const Region& region, int32_t piece, int32_t writer) const {
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

  const Plan& staged_;
  const Offers& offers_;
  Carrier carrier_;
  Program program_;
  std::map<int32_t, int32_t> message_of_;  // by number in the plan: which of the program's it is
  const Facts& facts_;
  BlockTable<Held>& held_;
};

// What the transfer leaves in the blocks of tmp that it writes.
void hold(BlockTable<Held>& table, const Transfer& transfer, bool offers, const Facts& facts) {
  if (!writes_tmp(transfer)) return;
  const Region& src = transfer.src.front();
  for (int32_t k = 0; k < transfer.dst.count; ++k) {
    const int32_t block = src.first + k * src.stride;
    const int32_t extent = transfer.kind == TransferKind::receive ? facts.messages[transfer.message].extents[static_cast<size_t>(k)]
                           : src.buffer == Buffer::tmp            ? table.at(src.rank, Buffer::tmp, block).extent
                                                                  : block;
    table.at(transfer.dst.rank, Buffer::tmp, transfer.dst.first + k * transfer.dst.stride) = {extent, offers, src.buffer, block};
  }
}

// The steps of one transfer, which the writer's rank executes.
void write(Writer& writer, const Plan& staged, const Dependences& dependences, Carrier carrier, const Facts& facts,
           const Reuse& reuse, int32_t i) {
  const Transfer& transfer = staged.transfers[i];
  for (int32_t earlier : dependences.waits[i]) {
    Step& wait = writer.step(carrier == Carrier::line ? StepKind::wait_line : StepKind::wait_word, i, earlier);
    wait.peer = staged.transfers[earlier].executor();
    wait.line = std::max(facts.line[earlier], 0);
  }
  if (carrier == Carrier::slot) {
    for (int32_t last : dependences.segment_before[i]) {
      writer.step(StepKind::wait_before, i, last).peer = staged.transfers[last].executor();
    }
    for (int32_t last : reuse.waits[i]) writer.step(StepKind::wait_reuse, i, last).peer = staged.transfers[last].executor();
  }
  if (is_message(transfer.kind)) {
    writer.message(i);
  } else {
    writer.move(i, dependences.arrivals[i]);
  }
  if (writes_tmp(transfer) || (carrier == Carrier::line && facts.line[i] >= 0)) writer.program().writes_shared = true;
  if (carrier == Carrier::line && facts.awaited[i]) writer.step(StepKind::stamp, i, i).line = facts.line[i];
  if (carrier == Carrier::slot && (facts.awaited[i] || reuse.awaited[i])) writer.step(StepKind::publish, i, i);
}

}  // namespace

std::vector<Program> lower(const Plan& staged, const Dependences& dependences, const std::vector<int32_t>& ranks, Carrier carrier) {
  Facts facts = gather_facts(staged, dependences);
  const Reuse reuse = carrier == Carrier::slot ? find_reuse(staged) : Reuse{};
  for (const auto* awaited : {&dependences.offers.returns, &dependences.segment_before}) {
    for (const auto& transfers : *awaited) {
      for (int32_t other : transfers) facts.awaited[other] = facts.awaited[other] || carrier == Carrier::slot;
    }
  }
  BlockTable<Held> held(staged, BlockTable<Held>::Aliasing::none);
  std::vector<Writer> writers;
  std::vector<int32_t> writer_of(static_cast<size_t>(staged.ranks), -1);
  writers.reserve(ranks.size());
  for (const int32_t rank : ranks) {
    writer_of[rank] = static_cast<int32_t>(writers.size());
    writers.emplace_back(staged, dependences, rank, carrier, facts, held);
  }
  const std::vector<bool>& offer = dependences.offers.offer;
  for (int32_t i = 0; i < static_cast<int32_t>(staged.transfers.size()); ++i) {
    const Transfer& transfer = staged.transfers[i];
    const int32_t writer = writer_of[transfer.executor()];
    if (writer >= 0) write(writers[writer], staged, dependences, carrier, facts, reuse, i);
    hold(held, transfer, !offer.empty() && offer[i], facts);
  }
  std::vector<Program> programs;
  for (Writer& writer : writers) {
    const int32_t rank = writer.program().rank;
    if (dependences.offers.any) writer.wait_for_readers(dependences.offers.returns[rank]);
    programs.push_back(std::move(writer.program()));
    Program& program = programs.back();
    program.lines = carrier == Carrier::line ? facts.lines : 0;
    program.message_blocks = facts.message_blocks;
    program.slot_blocks = carrier == Carrier::slot ? staged.largest_tmp() : 0;
    program.min_positions = reuse.min_positions;
    program.knows_all = dependences.knows_all[rank];
  }
  return programs;
}

Program lower(const Plan& staged, const Dependences& dependences, int32_t rank, Carrier carrier) {
  return std::move(lower(staged, dependences, std::vector<int32_t>{rank}, carrier).front());
}

Program lower(const Plan& plan, int32_t rank, Carrier carrier, const Nodes& nodes) {
  const Plan staged = stage(plan, nodes);
  if (carrier == Carrier::line && !lines_serve(staged)) {
    throw Error(Code::invalid_plan, "plan " + plan.algorithm + ": lines carry single blocks only; use slots");
  }
  return lower(staged, depend(staged, carrier), rank, carrier);
}

}  // namespace tutti::plan
