// A transfer: what a one-sided operation moves between its caller's memory and another rank's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"

namespace tutti::rma {

enum class Kind : uint32_t { put, get, put_signal };
// A put that signals moves bytes as any other one, and then adds their number to a word.
constexpr bool is_put(Kind kind) { return kind != Kind::get; }

// Blocks of one length at even distances; one block is a contiguous transfer. Addresses are those
// of the processes that own the memory. A plain value, which lies in shared memory.
struct Transfer {
  uint64_t local = 0;   // the caller's memory: the source of a put, the destination of a get
  uint64_t remote = 0;  // the target's memory
  uint64_t block_bytes = 0;
  int64_t local_stride = 0;  // bytes from the start of a block to the start of the next
  // A put that signals has one block. This is then the address of its signal, a word in the
  // target's heap.
  int64_t remote_stride = 0;
  uint32_t blocks = 1;
  Kind kind = Kind::put;
  int32_t target : 30 = 0;   // a rank; negative: on another node (far_target)
  uint32_t carries : 1 = 0;  // it carries the caller's side
  uint32_t staged : 1 = 0;   // the caller's side is packed in a slot, whose number is `local`
  Code result = Code::ok;    // written by whoever has executed it

  // The target that says: this rank of the job, on another node.
  static constexpr int32_t far_target(int rank) { return -1 - rank; }
  bool is_far() const { return target < 0; }
  int far_rank() const { return -1 - target; }

  size_t bytes() const { return static_cast<size_t>(block_bytes) * blocks; }
  // A short transfer of one block can carry the data of the caller's side, in the place of
  // local_stride. A server then reads and writes no other line of the caller's.
  bool may_carry() const {
    return blocks == 1 && block_bytes > 0 && block_bytes <= sizeof local_stride;
  }
  std::byte* carried() { return reinterpret_cast<std::byte*>(&local_stride); }
  const std::byte* carried() const { return reinterpret_cast<const std::byte*>(&local_stride); }
};

// Executes transfers: in memory, or by the system's copies.
class Mover {
 public:
  // Moves the bytes of a transfer of client `caller`. They are there when it returns Code::ok.
  // Called by the caller's thread and by servers, also at once. Throws nothing.
  virtual Code move(const Transfer& transfer, int caller) = 0;
  // The same of a transfer that carries the caller's side.
  virtual Code move_carried(Transfer& transfer) = 0;

 protected:
  ~Mover() = default;
};

// Moves between ranks that use the same addresses: the threads of a process.
class MemoryMover final : public Mover {
 public:
  Code move(const Transfer& transfer, int caller) override;
  Code move_carried(Transfer& transfer) override;
};

// Copies the blocks of a transfer whose first block is at these addresses.
void copy_blocks(const Transfer& transfer, std::byte* to, const std::byte* from);

}  // namespace tutti::rma
