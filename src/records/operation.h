// One operation of a sequence: a collective that a rank has started and will complete.
//
// start() puts the rank's data into its record and publishes it, or lends its buffer if the data is
// long and the other ranks reach it (sequence.h). is_ready() says whether all records that the rank
// needs are there. take() then computes the rank's results from them. Afterwards a rank that has
// lent its buffer gets it back: is_returned() says whether it has, and withdraw() sees to it, in
// the time of a copy. end() says that this rank is done with the operation. None of these waits;
// their caller does, or comes again later. take() alone waits, for ranks that are writing at this
// moment what it reads.
//
// An Operation is a plain value. Its owner keeps it, and all that it points to, until end(); one
// thread at a time uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "records/sequence.h"
#include "exec/operation.h"
#include "exec/slot_stores.h"
#include "kernels/parts.h"
#include "plan/record_program.h"
#include "shm/order.h"

namespace tutti::records {

// Buffers whose blocks have gaps or another order: packs and unpacks single blocks. Both return an
// error code of the caller's, 0 for none; take() and start() return the first that is not 0.
class Packing {
 public:
  // Packs a block of this rank's `in` into `bytes` bytes.
  virtual int pack(int32_t block, std::byte* to, size_t bytes) = 0;
  // Unpacks `bytes` bytes into a block of this rank's `out`.
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
  virtual void took(const plan::RecordProgram& program, size_t take, size_t bytes) noexcept = 0;

 protected:
  ~Observer() = default;
};

// Waits for a rank that is inside a call of Tutti's and writes what this rank reads next.
class Waits {
 public:
  // Returns Code::ok when the word has at least this value, and Code::dead_peer if the rank's
  // process has ended before.
  virtual Code wait(int rank, const shm::Word& word, uint64_t value) = 0;

 protected:
  ~Waits() = default;
};

struct Operation {
  const plan::RecordProgram* program = nullptr;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  // The lengths of a block of `out` and `tmp`, and of a block of `in`; unused if there are parts.
  // They are equal where a rank has both, or take() fails.
  size_t bytes = 0, in_bytes = 0;
  const exec::VParts* parts = nullptr;     // blocks of different lengths, and where they are
  const exec::Combine* combine = nullptr;  // null if nothing is combined
  // Not null: the data of all ranks is combined by it at once, and not by `combine`, which only
  // tells the element. So results are rounded once, and divided.
  kernels::ReduceAll all = nullptr;
  double divisor = 1;
  Packing* packs_in = nullptr;  // null: blocks of `in` are contiguous
  Packing* packs_out = nullptr;
  // A kind that all ranks must have in common (exec/operation.h), and that name_of_kind names in
  // errors; 0: none.
  uint64_t kind = 0;
  exec::NameOfKind name_of_kind = nullptr;
  bool in_place = false;   // `in` and `out` share memory, so `in` is read from the record
  bool keeps_own = false;  // results that come from this rank alone are in `out` already
  Observer* observer = nullptr;
  const kernels::Parallel* parallel = nullptr;  // null: the calling thread works alone

  // Set by start().
  uint64_t number = 0;
  uint64_t call = 0;  // the signature of the call, with no bytes
  // The number of ranks in program->awaits, counted from the first, that have published.
  size_t seen = 0;
  bool lent = false;  // the other ranks read `in` itself
};

// True if parts of the vector may be combined one after the other.
inline bool combines_by_parts(const Operation& operation) {
  return operation.all != nullptr || operation.combine->kernel != nullptr;
}

// The failure of an operation. After any code but Code::ok the sequence should not be used any
// more: ranks disagree, or memory cannot be reached.
struct Outcome {
  Code code = Code::ok;
  int packing = 0;      // the first error of Packing
  std::string failure;  // one line, if the code is not Code::ok
};

// The size of the record of an operation that is not started yet.
size_t record_bytes(const Operation& operation);

// Starts the operation: fills and publishes this rank's record, and sets operation.number. Waits
// for nothing. Long records are published first, so that others can read what is filled already.
// Throws Error(unavailable) or bad_alloc before anything has been published if there
// is no memory. `stores` copies long blocks. Returns Packing's first error; the record is published
// in any case, because the other ranks need it.
int start(Sequence& sequence, Operation& operation, exec::SlotStores& stores);

// True if all ranks whose data this rank needs have started the operation; if not, *late is the
// first that has not. Throws Error(unavailable) if their memory cannot be mapped.
bool is_ready(Sequence& sequence, Operation& operation, int* late);

// Computes this rank's results of the operation if that takes nothing but reading short
// records that are there. Returns false if it takes more, if a record is not there yet, or
// if the ranks disagree; is_ready() and take() then tell. It has then written nothing but results.
bool take_lines(Sequence& sequence, const Operation& operation);

// Computes this rank's results of the operation, which must be ready. `scratch` is memory that the
// caller keeps for further operations.
Outcome take(Sequence& sequence, const Operation& operation, std::vector<std::byte>& scratch,
             Waits& waits);

// For an operation that has lent its buffer: true if no rank needs the buffer any more.
bool is_returned(Sequence& sequence, const Operation& operation);
// Copies the data of a buffer that is lent into the record. The buffer is then returned as soon as
// the ranks that read it at this moment have ended.
void withdraw(Sequence& sequence, const Operation& operation);

// This rank is done with the operation: it has taken its results, or will not, and no rank needs
// its buffer.
inline void end(Sequence& sequence, const Operation& operation) { sequence.done(operation.number); }

}  // namespace tutti::records
