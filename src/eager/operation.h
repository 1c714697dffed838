// One operation of a sequence: a collective that a rank has started and will complete.
//
// start() puts the rank's data into its record and publishes it. is_ready() says whether all
// records that the rank needs are there. take() then computes the rank's results from them. None
// of these waits; their caller does, or comes again later.
//
// An Operation is a plain value. Its owner keeps it, and all that it points to, until take() has
// returned; one thread at a time uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "eager/sequence.h"
#include "exec/operation.h"
#include "exec/slot_stores.h"
#include "plan/eager.h"

namespace tutti::eager {

// Buffers whose blocks have gaps or another order: packs and unpacks single blocks. Both return an
// error code of the caller's, 0 for none; take() and start() return the first that is not 0.
class Packing {
 public:
  // From this rank's `in` to `bytes` bytes.
  virtual int pack(int32_t block, std::byte* to, size_t bytes) = 0;
  // From `bytes` bytes to this rank's `out`.
  virtual int unpack(const std::byte* from, int32_t block, size_t bytes) = 0;

 protected:
  ~Packing() = default;
};

// Learns of the steps of an operation, for traces.
class Observer {
 public:
  // The record is filled, and will be published now.
  virtual void filled() noexcept = 0;
  // The take with this index in the program has been executed; `bytes` of a block.
  virtual void took(const plan::EagerProgram& program, size_t take, size_t bytes) noexcept = 0;

 protected:
  ~Observer() = default;
};

struct Operation {
  const plan::EagerProgram* program = nullptr;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  // Of a block of `out` and `tmp`, and of a block of `in`; unused if there are parts. They are
  // equal where a rank has both, or take() fails.
  size_t bytes = 0, in_bytes = 0;
  const exec::VParts* parts = nullptr;     // blocks of different lengths, and where they are
  const exec::Combine* combine = nullptr;  // null if nothing is combined
  Packing* packs_in = nullptr;             // null: blocks of `in` are contiguous
  Packing* packs_out = nullptr;
  bool in_place = false;   // `in` and `out` share memory, so `in` is read from the record
  bool keeps_own = false;  // results that come from this rank alone are in `out` already
  Observer* observer = nullptr;

  // Set by start().
  uint64_t number = 0;
  size_t seen = 0;  // of program->awaits: the first so many have published
};

// What went wrong in an operation. After any code but Code::ok the sequence should not be used any
// more: ranks disagree, or memory cannot be reached.
struct Outcome {
  Code code = Code::ok;
  int packing = 0;      // the first error of Packing
  std::string failure;  // one line, if the code is not Code::ok
};

// The size of the record of an operation that is not started yet.
size_t record_bytes(const Operation& operation);

// Starts the operation: fills and publishes this rank's record, and sets operation.number. Waits
// for nothing. Throws Error(unavailable) or bad_alloc before anything has been published if there
// is no memory. `stores` copies long blocks. Returns Packing's first error; the record is published
// in any case, because the other ranks need it.
int start(Sequence& sequence, Operation& operation, exec::SlotStores& stores);

// True if all ranks whose data this rank needs have started the operation; if not, *late is the
// first that has not. Throws Error(unavailable) if their memory cannot be mapped.
bool is_ready(Sequence& sequence, Operation& operation, int* late);

// Computes this rank's results and says that it is done with the operation, which must be ready.
// `scratch` is memory that the caller keeps for further operations.
Outcome take(Sequence& sequence, const Operation& operation, std::vector<std::byte>& scratch);

}  // namespace tutti::eager
