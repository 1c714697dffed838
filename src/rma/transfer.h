// A transfer: what a one-sided operation moves between its caller's memory and another rank's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::rma {

enum class Kind : uint32_t { put, get };

// Blocks of one length at even distances; one block is a contiguous transfer. Addresses are those
// of the processes that own the memory. A plain value, which lies in shared memory.
struct Transfer {
  uint64_t local = 0;   // of the caller: the source of a put, the destination of a get
  uint64_t remote = 0;  // of the target
  uint64_t block_bytes = 0;
  int64_t local_stride = 0;  // bytes from the start of a block to the start of the next
  int64_t remote_stride = 0;
  uint32_t blocks = 1;
  Kind kind = Kind::put;
  int32_t target = 0;  // a rank

  size_t bytes() const { return static_cast<size_t>(block_bytes) * blocks; }
};

// Executes transfers: in memory, by the system's copies, or over a network.
class Mover {
 public:
  // Moves the bytes of a transfer of rank `caller`. They are there when it returns. Called by the
  // caller's thread and by servers, also at once. Throws nothing; the transfer was checked.
  virtual void move(const Transfer& transfer, int caller) = 0;

 protected:
  ~Mover() = default;
};

// Moves between ranks that use the same addresses: the threads of a process.
class MemoryMover final : public Mover {
 public:
  void move(const Transfer& transfer, int caller) override;
};

}  // namespace tutti::rma
