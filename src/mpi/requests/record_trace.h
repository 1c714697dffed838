// Traces of operations that run by records. An operation is one in the trace, from its start to its
// completion, with a program that lists its steps as for a plan.
//
// The steps are: a copy of the rank's blocks into its record, if it gives any; the publication of
// the record; `elsewhere` until the completion begins; a wait for each rank whose record is needed;
// a copy or a reduction for each block of the result. Rank r's record is transfer r + 1 at all
// ranks, and the results are the transfers after the records. The thread may write other records of
// the trace between start and completion, so all steps of an operation are written at its
// completion. An operation that is never completed has none.
//
// The request owns the object, which serves one operation after the other, and one thread at a time
// uses it. It is made only if tracer() is not null.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "records/operation.h"
#include "mpi/report/tracing.h"
#include "plan/record_program.h"
#include "trace/tracer.h"

namespace tutti::mpi {

class RecordTrace final : public records::Observer {
 public:
  // In the order of an operation.
  void enter() { entry_ = trace::ticks(); }
  void filled() noexcept override { filled_ = trace::ticks(); }
  void published() { published_ = trace::ticks(); }
  // The program may be one that only starts the operation.
  void begin_completion(const plan::RecordProgram& program, size_t record_bytes);
  void waited(size_t awaited);  // for the rank program.awaits[awaited]
  void took(const plan::RecordProgram& program, size_t take, size_t bytes) noexcept override;
  // The facts that the trace has of the operation. `communicator` is its number in traces,
  // `algorithm` the name by which it is served. The program lives as long as the object.
  struct What {
    const plan::RecordProgram* program;
    std::string_view algorithm;
    uint32_t communicator;
    uint64_t number;
    size_t bytes;
  };
  void exit(const What& what);

 private:
  uint32_t place_of_waits() const { return program_->gives.empty() ? 2 : 3; }

  // The program of the operation that is being completed.
  const plan::RecordProgram* program_ = nullptr;
  // number_ is the number of this program, on this communicator.
  const plan::RecordProgram* described_ = nullptr;
  uint32_t described_on_ = 0, number_ = 0;
  uint64_t entry_ = 0, filled_ = 0, published_ = 0;
  std::optional<trace::Recorder> recorder_;
};

}  // namespace tutti::mpi
