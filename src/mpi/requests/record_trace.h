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
// The request owns the object, and one thread at a time uses it. It is made only if tracer() is not
// null.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "eager/operation.h"
#include "mpi/report/tracing.h"
#include "plan/eager.h"
#include "trace/tracer.h"

namespace tutti::mpi {

class RecordTrace final : public eager::Observer {
 public:
  // `communicator` is its number in traces. The program outlives the object.
  RecordTrace(const plan::EagerProgram& program, uint32_t communicator);
  bool is_for(const plan::EagerProgram& program, uint32_t communicator) const {
    return &program == &program_ && communicator == communicator_;
  }

  // In the order of an operation.
  void enter() { entry_ = trace::ticks(); }
  void filled() noexcept override { filled_ = trace::ticks(); }
  void published() { published_ = trace::ticks(); }
  void begin_completion(size_t record_bytes);
  void waited(size_t awaited);  // for the rank program.awaits[awaited]
  void took(size_t take, size_t bytes) noexcept override;
  void exit(uint64_t number, size_t bytes);

 private:
  plan::StepKind kind_of(size_t take) const;
  bool gives() const { return !program_.gives.empty(); }

  const plan::EagerProgram& program_;
  const uint32_t communicator_;
  uint32_t number_;  // of the program
  uint64_t entry_ = 0, filled_ = 0, published_ = 0;
  std::optional<trace::Recorder> recorder_;  // of the operation that is being completed
};

}  // namespace tutti::mpi
