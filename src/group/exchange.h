// The interface of an alltoall between nodes whose parts servers exchange by one-sided transfers:
// the algorithm `direct:N:served`. The creator of the group implements it (src/mpi/one_sided). All
// ranks of a group have one, or none has; then the plan of `direct:N` serves.
//
// Source: "Exploiting Communication Concurrency", section 5.2: every rank gets its parts by
// non-blocking transfers, of which a fixed number (128 there) are under way.
//
// All ranks start the same calls in the same order. Any thread may drive and wait.
#pragma once

#include <cstddef>
#include <memory>

#include "exec/lane.h"
#include "exec/operation.h"

namespace tutti::group {

class Exchange {
 public:
  struct Call {
    const void* in = nullptr;
    void* out = nullptr;
    size_t bytes = 0;                     // bytes of each part, if they have one length
    const exec::VParts* parts = nullptr;  // else
    size_t at_once = 1;                   // so many transfers are under way
  };

  virtual ~Exchange() = default;
  // Waits for nothing. The buffers and the arrays of the parts last until the operation is over.
  // Throws bad_alloc, and has then started nothing.
  virtual std::shared_ptr<exec::LaneOperation> start(const Call& call) = 0;
  // Moves on what can go on.
  virtual void drive() = 0;
  // Until the operation is over.
  virtual void wait(const exec::LaneOperation& operation) = 0;
};

}  // namespace tutti::group
