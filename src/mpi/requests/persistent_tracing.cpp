// Traces of persistent collectives. A round is one operation, with a program that lists its steps
// as for a plan.
//
// The steps are: a copy of the rank's blocks into its deposit, if it gives any; the publication of
// the round; `elsewhere` until the completion begins; a wait for each other rank; a copy or a
// reduction for each block of the result. Rank r's deposit is transfer r + 1 at all ranks, and the
// results are the transfers after the deposits. The thread may write other records between start
// and completion, so all records of a round are written at its completion. A round that is never
// completed has none.
#include "exec/program_text.h"
#include "mpi/requests/persistent.h"
#include "mpi/report/tracing.h"

namespace tutti::mpi {
namespace {

using plan::Space;
using plan::StepKind;

// A kind of step that only traces have (trace/ring.h).
constexpr auto elsewhere = static_cast<StepKind>(trace::Kind::elsewhere);

plan::Operand operand(Space space, int rank, size_t block) {
  return {.space = space, .rank = rank, .block = static_cast<int32_t>(block)};
}

void add(plan::Program& program, plan::Step step, const std::vector<plan::Operand>& operands = {}) {
  step.first_operand = static_cast<int32_t>(program.operands.size());
  step.operand_count = static_cast<int32_t>(operands.size());
  program.operands.insert(program.operands.end(), operands.begin(), operands.end());
  program.steps.push_back(step);
}

uint32_t number_of(StepKind kind) { return static_cast<uint32_t>(kind); }

}  // namespace

void Persistent::describe_for_traces(const Communicator& communicator, uint64_t number) {
  plan::Program program;
  program.collective = collective_;
  program.algorithm = deposits_name;
  program.ranks = ranks_;
  program.rank = rank_;
  program.root = root_;
  program.blocks = plan::parted(collective_) ? ranks_ : 1;
  program.transfers = ranks_ * (1 + program.blocks);
  program.stages = 2;
  const auto given = static_cast<int32_t>(given_.size());
  if (given > 0)
    add(program, {.kind = StepKind::copy, .number = rank_ + 1, .extent_count = given},
        {operand(Space::slot, rank_, 0), operand(Space::in, rank_, 0)});
  add(program, {.kind = StepKind::publish, .number = rank_ + 1});
  add(program, {.kind = elsewhere});
  for (int rank = 0; rank < ranks_; ++rank)
    if (rank != rank_)
      add(program, {.kind = StepKind::wait_word, .stage = 1, .number = rank + 1, .peer = rank});
  for (size_t i = 0; i < results_.size(); ++i) {
    const Result& result = results_[i];
    std::vector<plan::Operand> operands{operand(Space::out, rank_, i)};
    for (int rank = result.from.low; rank < result.from.high; ++rank)
      operands.push_back(operand(Space::slot, rank, result.block));
    add(program,
        {.kind = kind_of(result),
         .stage = 1,
         .number = ranks_ + rank_ * program.blocks + static_cast<int32_t>(i) + 1,
         .number_stage = 1,
         .extent_first = static_cast<int32_t>(i)},
        operands);
  }
  traced_.program = tracer()->program(exec::program_text(program));
  traced_.communicator = communicator.traced_as();
  traced_.number = number;
}

plan::StepKind Persistent::kind_of(const Result& result) {
  return result.from.high - result.from.low == 1 ? StepKind::copy : StepKind::reduce;
}

// Records everything up to the beginning of the completion.
void Persistent::record_start(std::optional<trace::Recorder>& recorder) const {
  recorder.emplace(tracer(), traced_.entry);
  size_t bytes = 0;
  for (const Part& part : given_) bytes += part.bytes;
  uint32_t index = 0;
  if (!given_.empty())
    recorder->step_until(traced_.deposited, number_of(StepKind::copy), index++, bytes);
  recorder->step_until(traced_.published, number_of(StepKind::publish), index++, 0);
  recorder->step(number_of(elsewhere), index, 0, -1, 0);
}

void Persistent::record_wait(trace::Recorder& recorder, int rank) const {
  if (rank == rank_) return;
  const int place = first_wait() + rank - (rank > rank_ ? 1 : 0);
  recorder.step(number_of(StepKind::wait_word), static_cast<uint32_t>(place), 0, rank, 0);
}

void Persistent::record_result(trace::Recorder& recorder, size_t result) const {
  const auto place =
      static_cast<uint32_t>(first_wait() + ranks_ - 1) + static_cast<uint32_t>(result);
  recorder.step(number_of(kind_of(results_[result])), place, 0, -1, results_[result].part.bytes);
}

// The numbers of rounds are separate from those of the communicator's other operations.
void Persistent::record_exit(trace::Recorder& recorder) const {
  recorder.exit({traced_.program, traced_.communicator, traced_.number << 32 | round_, part_bytes_,
                 part_bytes_, 1, 1, root_});
}

}  // namespace tutti::mpi
