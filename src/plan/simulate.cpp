#include "plan/simulate.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "plan/blocks.h"
#include "plan/check.h"
#include "plan/lower.h"
#include "plan/semantics.h"
#include "plan/simulated_run.h"

namespace tutti::plan {
namespace {

// A reservation is contiguous. If it does not fit before the end of a ring, it begins at the start.
SimulatedSchedule schedule_of(const Program& program, const Simulation& how) {
  SimulatedSchedule schedule;
  schedule.segments = program.uses_lines ? 1 : std::max(how.segments, 1);
  schedule.positions =
      std::min(schedule.segments, std::max({program.min_positions, how.positions, 1}));
  schedule.ring_positions = std::max(schedule.positions, program.min_positions);
  const int32_t lines = std::max(program.lines, 1);
  schedule.ring_lines = 2 * lines;
  schedule.span = span_of(program, schedule.segments);
  std::vector<int32_t> position_user(schedule.ring_positions, -1),
      line_user(schedule.ring_lines, -1);
  SimulatedSchedule::RingShare next;
  for (int32_t operation = 0; operation < how.operations; ++operation) {
    if (next.position + schedule.positions > schedule.ring_positions) next.position = 0;
    if (next.line + lines > schedule.ring_lines) next.line = 0;
    SimulatedSchedule::RingShare share = next;
    for (int32_t i = 0; i < schedule.positions && !program.uses_lines; ++i) {
      share.must_end =
          std::max(share.must_end, std::exchange(position_user[share.position + i], operation));
    }
    for (int32_t i = 0; i < lines && program.uses_lines; ++i) {
      share.must_end =
          std::max(share.must_end, std::exchange(line_user[share.line + i], operation));
    }
    schedule.operations.push_back(share);
    next.position += schedule.positions;
    next.line += lines;
  }
  return schedule;
}

uint64_t expression(const Transfer& transfer, const std::vector<uint64_t>& sources) {
  if (transfer.kind == TransferKind::copy) return sources.front();
  if (!transfer.any_order) return combined_expression(sources);
  return std::accumulate(sources.begin(), sources.end(), uint64_t{0}, added_expression);
}

// Appends, by rank and block, the contents of every `out` after the plan's transfers have been
// executed one after another.
void append_results(const Plan& plan, int32_t operation, int32_t segment,
                    std::vector<uint64_t>& results) {
  BlockTable<uint64_t> table(plan, BlockTable<uint64_t>::Aliasing::none);
  const auto at = [&](int32_t rank, Buffer buffer, int32_t block) -> uint64_t& {
    const bool one_buffer = plan::one_buffer(plan.collective) && rank == plan.root;
    return table.at(rank, one_buffer && buffer == Buffer::out ? Buffer::in : buffer, block);
  };
  for (int32_t rank = 0; rank < plan.ranks; ++rank) {
    for (int32_t block = 0; block < plan.blocks; ++block) {
      at(rank, Buffer::in, block) = leaf_expression(operation, rank, segment, block);
    }
  }
  std::vector<uint64_t> sources;
  for (const Transfer& transfer : plan.transfers) {
    for (int32_t k = 0; k < transfer.dst.count; ++k) {
      sources.clear();
      for (const Region& src : transfer.src)
        sources.push_back(at(src.rank, src.buffer, src.first + k * src.stride));
      at(transfer.dst.rank, transfer.dst.buffer, transfer.dst.first + k * transfer.dst.stride) =
          expression(transfer, sources);
    }
  }
  for (int32_t rank = 0; rank < plan.ranks; ++rank) {
    for (int32_t block = 0; block < plan.blocks; ++block)
      results.push_back(at(rank, Buffer::out, block));
  }
}

// The order in which a program's steps are executed: all steps of a tick, then those of the next.
std::vector<SimulatedStep> executed_order(const Program& program, int32_t segments) {
  std::vector<SimulatedStep> order;
  for (int64_t tick = 0; tick < ticks_of(segments, program.stages); ++tick) {
    for (int32_t i = 0; i < static_cast<int32_t>(program.steps.size()); ++i) {
      const int64_t segment = segment_at(tick, program.steps[i].stage);
      if (segment >= 0 && segment < segments) order.push_back({i, static_cast<int32_t>(segment)});
    }
  }
  return order;
}

// The two ends of a message must have the same tag, and equally many pieces of the same lengths.
void check_messages(const std::vector<Program>& programs) {
  using Key = std::tuple<int32_t, int32_t, int32_t, int32_t>;  // sender, receiver, number, stage
  std::map<Key, std::vector<int32_t>> sent, received;
  for (const Program& program : programs) {
    for (const Message& message : program.messages) {
      std::vector<int32_t> extents;
      for (int32_t i = 0; i < message.piece_count; ++i) {
        const Piece& piece = program.pieces[static_cast<size_t>(message.first_piece + i)];
        for (int32_t k = 0; k < piece.extent_count; ++k) extents.push_back(piece.extent_first + k);
      }
      const int32_t from = message.sends ? program.rank : message.peer,
                    to = message.sends ? message.peer : program.rank;
      auto& there = message.sends ? sent : received;
      if (!there.emplace(Key{from, to, message.number, message.number_stage}, std::move(extents))
               .second) {
        refuse_programs("rank " + std::to_string(program.rank) + " has two messages of one tag");
      }
    }
  }
  if (sent != received)
    refuse_programs("the messages that ranks send are not those that ranks receive");
}

void check_wait(const Program& program, int32_t peer, int64_t number, int64_t precedes,
                const std::string& where) {
  if (peer < 0 || peer >= program.ranks || peer == program.rank) {
    refuse_programs(where + ": waits for rank " + std::to_string(peer) +
                    ", which is no other rank");
  }
  if (number >= precedes) {
    refuse_programs(
        where + ": waits for a number that is not less than that of the transfer that it precedes");
  }
}

void check_arrivals(const Program& program, const Step& step, const std::string& where) {
  const auto sources = static_cast<size_t>(std::max(step.operand_count - 1, 0));
  if (step.first_arrival < 0 ||
      static_cast<size_t>(step.first_arrival) + sources > program.arrivals.size()) {
    refuse_programs(where + ": it has fewer arrivals than sources");
  }
  for (size_t i = 0; i < sources; ++i) {
    const Arrival& arrival = program.arrivals[static_cast<size_t>(step.first_arrival) + i];
    if (const auto awaited = awaited_number(program, arrival, 0))
      check_wait(program, awaited->peer, awaited->number, own_number(program, step, 0), where);
  }
}

// The rule that excludes deadlock: a wait is for a smaller number than that of the transfer that it
// precedes, and a program's transfers are in the order of their numbers. It is checked for one
// segment, because each further one adds the same to all numbers.
void check_total_order(const Program& program, int32_t positions) {
  int64_t next = INT64_MAX;
  for (int32_t i = static_cast<int32_t>(program.steps.size()) - 1; i >= 0; --i) {
    const Step& step = program.steps[i];
    const int64_t number = own_number(program, step, 0);
    const std::string where = "rank " + std::to_string(program.rank) + ", " + step_text(program, i);
    if (step.stage < 0 || step.stage >= program.stages || step.number < 1 ||
        step.number > program.transfers) {
      refuse_programs(where + ": stage or number out of range");
    }
    if (!is_wait(step.kind)) {
      if (number > next) refuse_programs(where + ": after a transfer of a larger number");
      next = number;
      if (step.kind == StepKind::reduce_any) check_arrivals(program, step, where);
      continue;
    }
    const int64_t back = segments_back(step.kind).count(positions);
    check_wait(program, step.peer, own_number(program, step, -back), next, where);
  }
}

void check_shapes(const Plan& plan, const std::vector<Program>& programs) {
  if (programs.size() != static_cast<size_t>(plan.ranks)) {
    refuse_programs(std::to_string(programs.size()) + " programs for " +
                    std::to_string(plan.ranks) + " ranks");
  }
  const Program& first = programs.front();
  for (int32_t rank = 0; rank < plan.ranks; ++rank) {
    const Program& program = programs[rank];
    const bool same = program.transfers == first.transfers && program.stages == first.stages &&
                      program.slot_blocks == first.slot_blocks && program.lines == first.lines &&
                      program.min_positions == first.min_positions &&
                      program.uses_lines == first.uses_lines;
    if (program.rank != rank || !same) {
      refuse_programs("the program of rank " + std::to_string(rank) +
                      " has other sizes than that of rank 0");
    }
  }
}

}  // namespace

void simulate(const Plan& plan, const std::vector<Program>& programs, const Simulation& how) {
  check(plan);
  check_shapes(plan, programs);
  check_messages(programs);
  SimulatedCase what{
      plan, programs,    schedule_of(programs.front(), how), {},
      {},   how.reached, tokens_of(stage(plan, how.nodes)),  placement::NodeOf(how.nodes)};
  const SimulatedSchedule& schedule = what.schedule;
  // If every segment has a position of its own, no wait for reuse is ever executed.
  const int32_t positions =
      schedule.positions == schedule.segments ? INT32_MAX : schedule.positions;
  for (const Program& program : programs) {
    check_total_order(program, positions);
    what.orders.push_back(executed_order(program, schedule.segments));
  }
  for (int32_t operation = 0; operation < how.operations; ++operation) {
    for (int32_t segment = 0; segment < schedule.segments; ++segment) {
      append_results(plan, operation, segment, what.results);
    }
  }
  for (int32_t interleaving = 0; interleaving < how.interleavings; ++interleaving) {
    SimulatedRun(what, interleaving, how.seed).run();
  }
}

}  // namespace tutti::plan
