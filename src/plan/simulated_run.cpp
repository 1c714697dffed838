#include "plan/simulated_run.h"

#include <algorithm>

namespace tutti::plan {
namespace {

uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

uint64_t leaf_expression(int32_t operation, int32_t rank, int32_t segment, int32_t block) {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  for (int32_t part : {operation, rank, segment, block})
    hash = mix(hash + static_cast<uint32_t>(part) + 1);
  return hash;
}

uint64_t combined_expression(const std::vector<uint64_t>& sources) {
  uint64_t hash = sources.size();
  for (uint64_t source : sources) hash = mix(hash * 0x9e3779b97f4a7c15u + source);
  return hash;
}

uint64_t added_expression(uint64_t partial, uint64_t source) {
  return partial + mix(source ^ 0x5851f42d4c957f2du);
}

SimulatedRun::SimulatedRun(const SimulatedCase& what, int32_t interleaving, uint64_t seed)
    : what_(what),
      plan_(what.plan),
      interleaving_(interleaving),
      random_(mix(seed) + static_cast<uint64_t>(interleaving)),
      salt_(random_()),
      tokens_(what.tokens, what.programs.front().transfers, what.schedule.segments) {
  const auto ranks = static_cast<size_t>(plan_.ranks);
  ranks_.resize(ranks);
  words_.resize(ranks);
  lines_.resize(ranks * what.schedule.ring_lines);
  stamps_.resize(ranks * what.schedule.ring_lines);
  slots_.resize(ranks * what.schedule.ring_positions * what.programs.front().slot_blocks);
  entered_.assign(static_cast<size_t>(operations()) * ranks, 0);
  for (Rank& rank : ranks_) rank.clock.assign(ranks, 0);
  in_turn_ = salt_ % 2 == 0;
  fill_user_buffers();
}

void SimulatedRun::run() {
  std::vector<int32_t> movable = all_unfinished();
  while (!movable.empty()) {
    const size_t choice = choose(movable);
    const int32_t rank = movable[choice];
    released_ = false;
    bool moved = true;
    for (uint64_t burst = 1 + random_() % 6;
         burst > 0 && moved && ranks_[rank].operation < operations(); --burst) {
      moved = advance(rank);
    }
    if (released_) {
      movable = all_unfinished();
    } else if (!moved || ranks_[rank].operation == operations()) {
      movable.erase(movable.begin() + static_cast<ptrdiff_t>(choice));
    }
  }
  refuse_stuck();
  check_results();
}

// Even interleavings choose evenly; odd ones keep an order of preference for a while, so that ranks
// run far apart.
size_t SimulatedRun::choose(const std::vector<int32_t>& movable) {
  if (interleaving_ % 2 == 0) return random_() % movable.size();
  if (random_() % 64 == 0) salt_ = random_();
  const auto preferred =
      std::min_element(movable.begin(), movable.end(), [this](int32_t one, int32_t other) {
        return mix(salt_ + static_cast<uint64_t>(one)) < mix(salt_ + static_cast<uint64_t>(other));
      });
  return static_cast<size_t>(preferred - movable.begin());
}

std::vector<int32_t> SimulatedRun::all_unfinished() const {
  std::vector<int32_t> result;
  for (int32_t rank = 0; rank < plan_.ranks; ++rank) {
    if (ranks_[rank].operation < operations()) result.push_back(rank);
  }
  return result;
}

// User buffers are fresh in every operation. In place, and at the root of a bcast, `out` is `in`.
OrderedCell& SimulatedRun::user(int32_t operation, int32_t rank, Space space, int32_t segment,
                                int32_t block) {
  const size_t owner = size_t(operation) * plan_.ranks + rank;
  const size_t buffer = space == Space::out && !in_place_[owner] ? 1 : 0;
  return user_[((owner * 2 + buffer) * what_.schedule.segments + segment) * plan_.blocks + block];
}

void SimulatedRun::fill_user_buffers() {
  const int32_t segments = what_.schedule.segments;
  user_.resize(size_t(operations()) * plan_.ranks * 2 * segments * plan_.blocks);
  // In a gather, an allgather and a scatter `in` and `out` share only the rank's own part, which
  // stays as it is.
  const bool may_be_in_place = combines(plan_.collective) || exchanges(plan_.collective);
  for (int32_t operation = 0; operation < operations(); ++operation) {
    for (int32_t rank = 0; rank < plan_.ranks; ++rank) {
      const bool root_of_bcast = one_buffer(plan_.collective) && rank == plan_.root;
      const bool in_place = may_be_in_place && what_.programs[rank].in_place && random_() % 2 == 0;
      in_place_.push_back(root_of_bcast || in_place);
      const bool any = what_.programs[rank].has_elidable_copies &&
                       (!in_place_.back() || what_.programs[rank].elides_in_place);
      for (int buffer = 0; buffer < 2; ++buffer)
        reached_.push_back(what_.reached && any && random_() % 2 == 0);
      if (!plan_.definition().has_in(rank)) continue;
      for (int32_t segment = 0; segment < segments; ++segment) {
        for (int32_t block = 0; block < plan_.definition().in_blocks(); ++block) {
          user(operation, rank, Space::in, segment, block)
              .hold({leaf_expression(operation, rank, segment, block),
                     static_cast<int32_t>(plan_.definition().item_in(rank, block))});
        }
      }
    }
  }
}

bool SimulatedRun::advance(int32_t rank) {
  Rank& self = ranks_[rank];
  const std::vector<SimulatedStep>& order = what_.orders[rank];
  if (self.at > order.size()) {
    end(rank);
    return true;
  }
  if (self.at == 0) {
    use_user_buffers(rank);
    entered_[size_t(self.operation) * plan_.ranks + rank] = ++self.clock[rank];
  } else if (!execute(rank, order[self.at - 1])) {
    return false;
  }
  const bool in_the_middle = !self.taken.empty();
  if (in_the_middle) return true;
  if (self.at > 0) {
    const SimulatedStep at = order[self.at - 1];
    const Step& step = what_.programs[rank].steps[at.step];
    // Work counts from the time when it is done, not from its publication, because a message may
    // order other ranks after it before that.
    const bool tells = step.kind == StepKind::publish || step.kind == StepKind::stamp;
    if (!is_wait(step.kind)) check_tokens(rank, number_of(rank, at), tells);
  }
  ++self.at;
  return true;
}

// Call it when the rank has done a step of this number, or all steps up to it.
void SimulatedRun::check_tokens(int32_t rank, int64_t number, bool tells) {
  if (what_.tokens.empty()) return;
  const std::string fault =
      tokens_.done(rank, base(ranks_[rank].operation), number, ranks_[rank].clock, tells);
  if (!fault.empty()) refuse_programs(context(rank) + ": " + fault);
}

bool SimulatedRun::reached(int32_t operation, int32_t rank, Space space) const {
  return reached_[(size_t(operation) * plan_.ranks + rank) * 2 + (space == Space::out ? 1 : 0)];
}

bool SimulatedRun::wait_for_number(int32_t rank, SimulatedStep at) {
  const Program& program = what_.programs[rank];
  const Step& step = program.steps[at.step];
  const int32_t operation = ranks_[rank].operation;
  const bool reads_of_others =
      reached(operation, rank, Space::in) || reached(operation, rank, Space::out);
  if (step.kind == StepKind::wait_return && !reads_of_others) return true;
  const auto awaited = awaited_number(program, step, at.segment, what_.schedule.cut());
  if (!awaited) return true;
  const int64_t number = base(operation) + awaited->number;
  if (properties_of(step.kind).form == StepForm::peer_line)
    return wait(rank, stamped(rank, awaited->peer, step.line, number));
  return wait(rank, words_[awaited->peer].reached(number));
}

// The user may read and write its buffers until the operation begins, and once it has ended.
void SimulatedRun::use_user_buffers(int32_t rank) {
  Rank& self = ranks_[rank];
  const Access access{rank, ++self.clock[rank], -1, 0, self.operation};
  for (const Space space : {Space::in, Space::out}) {
    for (int32_t segment = 0; segment < what_.schedule.segments; ++segment) {
      for (int32_t block = 0; block < plan_.blocks; ++block) {
        OrderedCell& cell = user(self.operation, rank, space, segment, block);
        if (const auto race = cell.write(access, self.clock, cell.symbol()))
          refuse_use(rank, space, block, *race);
      }
    }
  }
}

void SimulatedRun::end(int32_t rank) {
  Rank& self = ranks_[rank];
  use_user_buffers(rank);
  const bool must_know = !has_data(plan_.collective) || what_.programs[rank].knows_all;
  for (int32_t other = 0; other < plan_.ranks && must_know; ++other) {
    if (has_data(plan_.collective) && !what_.nodes.together(rank, other)) continue;
    const uint32_t entry = entered_[size_t(self.operation) * plan_.ranks + other];
    if (entry == 0 || self.clock[other] < entry) {
      refuse_programs(context(rank) + ": ends it without knowing that rank " +
                      std::to_string(other) + " has entered it");
    }
  }
  ++self.clock[rank];
  check_tokens(rank, base(self.operation + 1), false);
  release(words_[rank], base(self.operation + 1), rank);
  ++self.operation;
  self.at = 0;
  self.reserved = false;
}

bool SimulatedRun::execute(int32_t rank, SimulatedStep at) {
  const Program& program = what_.programs[rank];
  const Step& step = program.steps[at.step];
  switch (step.kind) {
    case StepKind::wait_word:
    case StepKind::wait_line:
    case StepKind::wait_reuse:
    case StepKind::wait_return:
    case StepKind::wait_before: return wait_for_number(rank, at);
    case StepKind::publish:
      ++ranks_[rank].clock[rank];
      release(words_[rank], number_of(rank, at), rank);
      return true;
    case StepKind::stamp:
      if (!reserve(rank)) return false;
      ++ranks_[rank].clock[rank];
      release(stamps_[line_index(rank, rank, step.line)], number_of(rank, at), rank);
      return true;
    case StepKind::copy:
    case StepKind::reduce: return move(rank, at);
    case StepKind::reduce_any: return move_any(rank, at);
    case StepKind::post:
    case StepKind::send:
    case StepKind::receive:
    case StepKind::sent: return message(rank, at);
  }
  return true;
}

int64_t SimulatedRun::number_of(int32_t rank, SimulatedStep at) const {
  const Program& program = what_.programs[rank];
  return base(ranks_[rank].operation) + own_number(program, program.steps[at.step], at.segment);
}

int64_t SimulatedRun::tag(int32_t rank, SimulatedStep at, const Message& message) const {
  return base(ranks_[rank].operation) + tag_of(what_.programs[rank], message, at.segment);
}

bool SimulatedRun::wait(int32_t rank, const ReleasedWord::Release* seen) {
  if (seen == nullptr) return false;
  join(ranks_[rank].clock, seen->clock);
  return true;
}

// The stamp with this number; null while it is not there.
const ReleasedWord::Release* SimulatedRun::stamped(int32_t rank, int32_t peer, int32_t line,
                                                   int64_t number) const {
  const auto* stamp = stamps_[line_index(rank, peer, line)].reached(number);
  if (stamp != nullptr && stamp->value != number) {
    refuse_programs(context(rank) + ": line " + std::to_string(line) + " of rank " +
                    std::to_string(peer) + " has the stamp of another transfer");
  }
  return stamp;
}

void SimulatedRun::release(ReleasedWord& word, int64_t value, int32_t rank) {
  if (!word.release(value, ranks_[rank].clock)) {
    refuse_programs(context(rank) + ": shows " + std::to_string(value) + " after " +
                    std::to_string(word.value()) + "; what a rank shows must grow");
  }
  released_ = true;
}

// Before its first write to shared memory in an operation, a rank makes sure that every rank has
// ended the operation that used the same memory before.
bool SimulatedRun::reserve(int32_t rank) {
  Rank& self = ranks_[rank];
  if (self.reserved) return true;
  if (!what_.programs[rank].writes_shared) {
    refuse_programs(context(rank) +
                    ": writes shared memory, but its program says that it does not");
  }
  const int32_t must_end = what_.schedule.operations[self.operation].must_end;
  for (int32_t other = 0; other < plan_.ranks; ++other) {
    if (!what_.nodes.together(rank, other)) continue;
    if (must_end >= 0 && !wait(rank, words_[other].reached(base(must_end + 1)))) return false;
  }
  self.reserved = true;
  return true;
}

size_t SimulatedRun::line_index(int32_t rank, int32_t owner, int32_t line) const {
  const Program& program = what_.programs[rank];
  if (line < 0 || line >= program.lines || !program.uses_lines) {
    refuse_programs(context(rank) + ": there is no line " + std::to_string(line) +
                    " in this operation");
  }
  return size_t(owner) * what_.schedule.ring_lines +
         what_.schedule.operations[ranks_[rank].operation].line + line;
}

OrderedCell& SimulatedRun::cell(int32_t rank, int32_t segment, const Operand& operand, int32_t k,
                                int32_t extent) {
  const int32_t operation = ranks_[rank].operation;
  const int32_t block = operand.block + k;
  if (operand.rank < 0 || operand.rank >= plan_.ranks)
    refuse_programs(context(rank) + ": an operand of no rank");
  if (operand.bypassable && reached(operation, operand.rank, operand.bypass_space)) {
    return user(operation, operand.rank, operand.bypass_space, segment, operand.bypass_block + k);
  }
  if (operand.space == Space::line) return lines_[line_index(rank, operand.rank, operand.line)];
  if (operand.space == Space::slot) {
    const int32_t blocks = what_.programs[rank].slot_blocks;
    if (block < 0 || block >= blocks) {
      refuse_programs(context(rank) + ": there is no slot block " + std::to_string(block));
    }
    const int64_t position = what_.schedule.operations[operation].position +
                             position_of(segment, what_.schedule.positions);
    return slots_[(size_t(operand.rank) * what_.schedule.ring_positions +
                   static_cast<size_t>(position)) *
                      blocks +
                  block];
  }
  if (operand.rank != rank) {
    refuse_programs(context(rank) + ": touches a user's buffer of rank " +
                    std::to_string(operand.rank));
  }
  if (block < 0 || block >= plan_.blocks) {
    refuse_programs(context(rank) + ": there is no block " + std::to_string(block) +
                    " of the vector");
  }
  const Definition definition = plan_.definition();
  const int64_t item = operand.space == Space::in ? definition.item_in(rank, block)
                                                  : definition.item_out(rank, block);
  if (item != extent) {
    refuse_programs(context(rank) + ": moves block " + std::to_string(block) +
                    " with the length of " + (parted(plan_.collective) ? "item " : "block ") +
                    std::to_string(extent));
  }
  return user(operation, rank, operand.space, segment, block);
}

bool SimulatedRun::move(int32_t rank, SimulatedStep at) {
  if (!has_data(plan_.collective)) return true;  // its blocks have no bytes
  const Step& step = what_.programs[rank].steps[at.step];
  const Operand* operands = &what_.programs[rank].operands[step.first_operand];
  if (step.elidable && reached(ranks_[rank].operation, rank, operands[1].space)) return true;
  check_destination(rank, operands[0]);
  const bool shared = operands[0].space == Space::slot || operands[0].space == Space::line;
  if (shared && !reserve(rank)) return false;
  Rank& self = ranks_[rank];
  const Access access{rank, ++self.clock[rank], at.step, at.segment, self.operation};
  std::vector<uint64_t> sources;
  for (int32_t k = 0; k < step.extent_count; ++k) {
    const int32_t extent = step.extent_first + k;
    sources.clear();
    OrderedCell& destination = cell(rank, at.segment, operands[0], k, extent);
    // In place there is nothing to copy.
    if (step.kind == StepKind::copy &&
        &cell(rank, at.segment, operands[1], k, extent) == &destination)
      continue;
    for (int32_t i = 1; i < step.operand_count; ++i) {
      OrderedCell& source = cell(rank, at.segment, operands[i], k, extent);
      if (const auto race = source.read(access, self.clock))
        refuse_race(rank, "reads", operands[i], k, *race);
      check_source(rank, source.symbol(), operands[i], k, extent);
      sources.push_back(source.symbol().expression);
    }
    const Symbol result{
        step.kind == StepKind::copy ? sources.front() : combined_expression(sources), extent};
    if (const auto race = destination.write(access, self.clock, result)) {
      refuse_race(rank, "writes", operands[0], k, *race);
    }
  }
  return true;
}

}  // namespace tutti::plan
