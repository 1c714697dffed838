// One operation whose readers may pass by slots: where the ranks' buffers are, and the movement
// from there.
//
// On entering, a rank says in its Control where others reach its `in` and its `out`, if they do:
// only it knows. So that a reader does not take what the rank said of a later operation for this
// one's (a rank that nobody reaches does not wait for its readers), the word bears the number of
// the operation, and a word of another number means: by way of the slot. What the words say orders
// nothing; the waits before each movement do. Lives on the stack of the executing rank.
//
// Where parts differ in length, only their owner knows where they are. Then a table of places, one
// for each part of its `in` and in the words' form, lies before the operation's share of its slot;
// the word says that there is one.
//
//   bits 48-63  number of the operation, cut off   bit 47  1: an address, for process_vm_readv
//   bits 0-46   0: not reached; an address, or a distance from the start of what others have mapped
#pragma once

#include "exec/executor.h"
#include "exec/geometry.h"

namespace tutti::exec {

// Sizes from which readers pass by slots (docs/openmp.md): where they have mapped the buffer, and
// where the system's copies are used without a rule's word for it.
inline constexpr size_t direct_from = 8 * 1024;
inline constexpr size_t cma_from = 128 * 1024;

class Reached {
 public:
  // The segment of a step that moves data.
  struct MovedSegment {
    std::byte* const* base_of;  // by space
    Offsets offsets;
    size_t at;     // of the segment in users' vectors and parts
    size_t bytes;  // of every operand
  };
  Reached(Channel& channel, const BoundProgram& bound, const Operation& operation);

  // `tables`: where rank 0's table of places is; other ranks' are a stride apart. Null where parts
  // are of one length.
  void announce(std::byte* tables);
  // Whether others reach this rank's buffer of a space (plan::Space).
  bool of_own(uint32_t space) const { return (own_[space] & place_mask) != 0; }
  bool any_of_own() const { return of_own(0) || of_own(1); }

  // A copy or reduce of which some sources may be elsewhere than in slots.
  [[gnu::noinline]] Code move(const BoundStep& step, const MovedSegment& segment);

 private:
  static constexpr int number_shift = 48;
  static constexpr uint64_t place_mask = (uint64_t{1} << number_shift) - 1;
  static constexpr uint64_t in_other_process = uint64_t{1} << 47;

  uint64_t place_of(const void* buffer) const;
  uint64_t* table_of(int32_t rank) const;
  bool announce_parts(const Parts& parts);
  const BoundOperand& operand(const BoundStep& step, uint32_t i) const;
  uint64_t place_of(const Elsewhere& elsewhere) const;
  Code read(int32_t rank, std::byte* dst, uint64_t address, size_t bytes);

  Channel& channel_;
  const BoundProgram& bound_;
  const Operation& operation_;
  const uint64_t number_;
  std::byte* tables_ = nullptr;
  uint64_t own_[2] = {0, 0};
};

// In its place where nobody is reached: leaves nothing in the code.
struct Unreached {
  Unreached(Channel&, const BoundProgram&, const Operation&) {}
};

// Bytes of a slot that a table takes.
inline size_t table_bytes(int ranks) {
  return round_up(static_cast<size_t>(ranks) * sizeof(uint64_t), shm::line_size);
}

// From which on the readers of a program that was bound with this choice may pass by slots;
// SIZE_MAX: never.
struct ReachFrom {
  size_t any = SIZE_MAX, cma = SIZE_MAX;  // any: by whatever way
};
ReachFrom reach_from(const Reach& reach, ReachChoice choice);

}  // namespace tutti::exec
