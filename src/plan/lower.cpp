#include "plan/lower.h"

#include <algorithm>

#include "base/error.h"
#include "plan/blocks.h"
#include "plan/facts.h"
#include "plan/slice.h"
#include "plan/writer.h"

namespace tutti::plan {

bool lines_serve(const Plan& staged, int32_t lines) {
  if (staged.blocks > 1 && !parted(staged.collective)) return false;
  auto single = [](const Region& region) { return region.count <= 1; };
  std::vector<int32_t> written(static_cast<size_t>(staged.ranks), 0);  // indexed by rank
  for (const Transfer& transfer : staged.transfers) {
    if (writes_tmp(transfer) && ++written[transfer.executor()] > lines) return false;
    if (!single(transfer.dst) || !std::all_of(transfer.src.begin(), transfer.src.end(), single))
      return false;
  }
  return true;
}

namespace {

// The item whose length block k of the transfer has.
int32_t extent_of(BlockTable<Held>& table, const Plan& staged, int32_t i, int32_t k,
                  const Facts& facts, const Slice* slice) {
  const Transfer& transfer = staged.transfers[i];
  if (slice != nullptr) return slice->extents[i][static_cast<size_t>(k)];
  if (transfer.kind == TransferKind::receive)
    return facts.messages[transfer.message].extents[static_cast<size_t>(k)];
  const Region& src = transfer.src.front();
  const int32_t block = src.first + k * src.stride;
  return src.buffer == Buffer::tmp ? table.at(src.rank, Buffer::tmp, block).extent
                                   : item_of(staged, src, block);
}

// Notes the contents of the blocks of tmp that the transfer writes.
void hold(BlockTable<Held>& table, const Plan& staged, int32_t i, bool elidable, const Facts& facts,
          const Slice* slice) {
  const Transfer& transfer = staged.transfers[i];
  if (!writes_tmp(transfer)) return;
  const Region& src = transfer.src.front();
  for (int32_t k = 0; k < transfer.dst.count; ++k) {
    table.at(transfer.dst.rank, Buffer::tmp, transfer.dst.first + k * transfer.dst.stride) = {
        extent_of(table, staged, i, k, facts, slice), elidable, src.buffer,
        src.first + k * src.stride};
  }
}

// Writes the steps of one transfer, which the writer's rank executes.
void write(Writer& writer, const Plan& staged, const Dependences& dependences, Carrier carrier,
           const Facts& facts, const Reuse& reuse, int32_t i) {
  const Transfer& transfer = staged.transfers[i];
  for (int32_t earlier : dependences.waits[i]) {
    Step& wait = writer.step(carrier == Carrier::line ? StepKind::wait_line : StepKind::wait_word,
                             i, earlier);
    wait.peer = staged.transfers[earlier].executor();
    wait.line = std::max(facts.line[earlier], 0);
  }
  if (carrier == Carrier::slot) {
    for (int32_t last : dependences.segment_before[i]) {
      writer.step(StepKind::wait_before, i, last).peer = staged.transfers[last].executor();
    }
    for (int32_t last : reuse.waits[i])
      writer.step(StepKind::wait_reuse, i, last).peer = staged.transfers[last].executor();
  }
  if (is_message(transfer.kind)) {
    writer.message(i);
  } else {
    writer.move(i, dependences.arrivals[i]);
  }
  if (writes_tmp(transfer) || (carrier == Carrier::line && facts.line[i] >= 0))
    writer.program().writes_shared = true;
  if (carrier == Carrier::line && facts.awaited[i])
    writer.step(StepKind::stamp, i, i).line = facts.line[i];
  if (carrier == Carrier::slot && (facts.awaited[i] || reuse.awaited[i]))
    writer.step(StepKind::publish, i, i);
}

// `slice`: the plan is that of this slice; null: it is a whole one.
std::vector<Program> lower(const Plan& staged, const Dependences& dependences,
                           const std::vector<int32_t>& ranks, Carrier carrier, const Slice* slice) {
  Facts facts = gather_facts(staged, dependences, slice);
  const Reuse reuse = carrier == Carrier::slot ? find_reuse(staged) : Reuse{};
  if (carrier == Carrier::slot) {
    for (const int32_t other : dependences.segment_before.values()) facts.awaited[other] = true;
    for (const auto& readings : dependences.elidable.returns) {
      for (const int32_t other : readings) facts.awaited[other] = true;
    }
  }
  BlockTable<Held> held(staged, BlockTable<Held>::Aliasing::tmp_alone);
  std::vector<Writer> writers;
  std::vector<int32_t> writer_of(static_cast<size_t>(staged.ranks), -1);
  writers.reserve(ranks.size());
  for (const int32_t rank : ranks) {
    writer_of[rank] = static_cast<int32_t>(writers.size());
    writers.emplace_back(staged, dependences, rank, carrier, facts, held, slice);
  }
  const std::vector<bool>& elidable = dependences.elidable.copies;
  for (int32_t i = 0; i < static_cast<int32_t>(staged.transfers.size()); ++i) {
    const Transfer& transfer = staged.transfers[i];
    const int32_t writer = writer_of[transfer.executor()];
    if (writer >= 0) write(writers[writer], staged, dependences, carrier, facts, reuse, i);
    hold(held, staged, i, !elidable.empty() && elidable[i], facts, slice);
  }
  std::vector<Program> programs;
  for (Writer& writer : writers) {
    const int32_t rank = writer.program().rank;
    if (dependences.elidable.any) writer.wait_for_readers(dependences.elidable.returns[rank]);
    programs.push_back(std::move(writer.program()));
    Program& program = programs.back();
    program.lines = carrier == Carrier::line ? facts.lines : 0;
    program.message_blocks = facts.message_blocks;
    if (carrier == Carrier::slot) {
      program.slot_blocks = slice != nullptr ? slice->slot_blocks : staged.largest_tmp();
      program.min_positions = slice != nullptr ? slice->min_positions : reuse.min_positions;
    }
    program.knows_all = dependences.knows_all[rank];
  }
  return programs;
}

}  // namespace

std::vector<Program> lower(const Plan& staged, const Dependences& dependences,
                           const std::vector<int32_t>& ranks, Carrier carrier) {
  return lower(staged, dependences, ranks, carrier, nullptr);
}

Program lower(const Slice& slice, const Dependences& dependences, Carrier carrier) {
  return std::move(lower(slice.plan, dependences, {slice.rank}, carrier, &slice).front());
}

Program program_of(const Plan& staged, int32_t rank, Carrier carrier) {
  if (!pairs_decide(staged)) return lower(staged, depend(staged, carrier), rank, carrier);
  const Slice slice = plan::slice(staged, rank);
  return lower(slice, depend(slice, carrier), carrier);
}

Program lower(const Plan& staged, const Dependences& dependences, int32_t rank, Carrier carrier) {
  return std::move(lower(staged, dependences, std::vector<int32_t>{rank}, carrier).front());
}

Program lower(const Plan& plan, int32_t rank, Carrier carrier, const placement::Nodes& nodes) {
  const Plan staged = stage(plan, nodes);
  if (carrier == Carrier::line && !lines_serve(staged)) {
    throw Error(Code::invalid_plan,
                "plan " + plan.algorithm + ": lines carry single blocks only; use slots");
  }
  return program_of(staged, rank, carrier);
}

}  // namespace tutti::plan
