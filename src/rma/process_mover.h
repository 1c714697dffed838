// Moves bytes between processes of a node: through a heap that both have mapped, or by the system's
// copies (process_vm_readv and process_vm_writev) where it permits them.
//
// A Peers table says how this process reaches the memory of each rank. Its owner makes it once and
// keeps it as long as movers use it. `forget` makes all ranks but this one unreachable, in a forked
// child, which has no other process's memory. Any thread may move.
#pragma once

#include <utility>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rma/transfer.h"

namespace tutti::rma {

// How this process reaches the memory of one rank. Plain data.
struct Peer {
  // The addresses of the rank, from `first` on, that are mapped here: `shift` bytes further on.
  uint64_t first = 0;
  uint64_t bytes = 0;  // 0: none
  uint64_t shift = 0;
  int32_t process = 0;     // for the system's copies; 0: not permitted, or on another node
  bool elsewhere = false;  // the rank is on another node

  bool is_of_this_process() const;  // the rank is this process, or a thread of it

  // Returns the address of a rank's `length` bytes at `address` in this process; null if they are
  // not mapped.
  std::byte* here(uint64_t address, uint64_t length) const {
    const uint64_t distance = address - first;
    if (distance >= bytes || length > bytes - distance) return nullptr;
    return reinterpret_cast<std::byte*>(address + shift);
  }
};
static_assert(sizeof(Peer) == 32, "a rank's Peer is found by a shift");

// A rank of this process reaches all of its own memory, except the first page, which no process
// has.
constexpr Peer own_memory{.first = 4096, .bytes = UINT64_MAX / 2};
inline bool Peer::is_of_this_process() const { return first == own_memory.first && shift == 0; }

class ProcessMover final : public Mover {
 public:
  // `peers`: by rank. `rank_of`: by client, the rank whose memory `local` addresses of its
  // transfers are; empty: clients are ranks.
  ProcessMover(const std::vector<Peer>& peers, std::vector<int> rank_of)
      : peers_(peers), rank_of_(std::move(rank_of)) {}

  // Code::invalid_argument: the memory of a side is not there. Code::unavailable: it cannot be
  // reached. Code::dead_peer: its process has ended.
  Code move(const Transfer& transfer, int caller) override;
  Code move_carried(Transfer& transfer) override;

 private:
  const std::vector<Peer>& peers_;
  const std::vector<int> rank_of_;
};

// In a forked child: this process reaches no rank any more, except that the peers with `own`
// memory stay.
void forget_others(std::vector<Peer>& peers);

// The bytes from the first to the last one that a side of a transfer touches: the least address,
// and their number.
struct Extent {
  uint64_t first = 0;
  uint64_t bytes = 0;
};
// True if all bytes of `part` are bytes of `whole`.
inline bool is_within(const Extent& part, const Extent& whole) {
  const uint64_t offset = part.first - whole.first;
  return offset < whole.bytes && part.bytes <= whole.bytes - offset;
}
Extent extent_of(uint64_t start, int64_t stride, const Transfer& transfer);

}  // namespace tutti::rma
