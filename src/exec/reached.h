// One operation whose readers may bypass the slots: it finds the ranks' buffers and moves data
// from them.
//
// When a rank enters the operation, it writes into its Control where others reach its `in` and its
// `out`, because only it knows. A rank whose buffers no rank reaches does not wait for its
// readers, so a reader may find a word of a later operation. Therefore the word holds the number of
// the operation, and a reader that finds another number reads the slot. The words order nothing:
// the waits before each copy or reduce do. A Reached lives on the stack of the executing rank.
//
// If parts differ in length, only their owner knows where they are. Then a table of places lies
// before the operation's share of the owner's slot. It has a place for each part of `in`, in the
// form of the words, and the nonzero place in the word says that there is a table.
//
//   bits 48-63  number of the operation, cut off   bit 47  1: an address, for process_vm_readv
//   bits 0-46   0: not reached; an address, or a distance from the start of what others have mapped
#pragma once

#include "exec/executor.h"

namespace tutti::exec {

class Channel::Reached {
 public:
  // The segment of a step that moves data.
  struct MovedSegment {
    std::byte* const* base_of;  // indexed by space
    Offsets offsets;
    size_t at;     // the segment's offset in users' vectors and parts
    size_t bytes;  // bytes of every operand
  };
  Reached(Channel& channel, const BoundProgram& bound, const Operation& operation);

  // `tables`: rank 0's table of places; other ranks' tables are a stride apart. Null if parts are
  // of one length.
  void announce(std::byte* tables);
  // True if others reach this rank's buffer of a space (plan::Space).
  bool of_own(uint32_t space) const { return (own_[space] & place_mask) != 0; }
  bool any_of_own() const { return of_own(0) || of_own(1); }

  // A copy or reduce with sources that may be in users' buffers instead of slots.
  [[gnu::noinline]] Code move(const BoundStep& step, const MovedSegment& segment);

 private:
  static constexpr int number_shift = 48;
  static constexpr uint64_t place_mask = (uint64_t{1} << number_shift) - 1;
  static constexpr uint64_t in_other_process = uint64_t{1} << 47;

  // `is_readable`: the system has copied from this buffer before.
  uint64_t place_of(const void* buffer, bool is_readable = false) const;
  uint64_t* table_of(int32_t rank) const;
  bool announce_parts(const Parts& parts);
  const BoundOperand& operand(const BoundStep& step, uint32_t i) const;
  uint64_t place_of(const Elsewhere& elsewhere) const;
  Code read(int32_t rank, std::byte* dst, uint64_t address, size_t bytes);
  bool read_file(int32_t rank, std::byte* dst, uint64_t address, size_t bytes) const;

  Channel& channel_;
  const BoundProgram& bound_;
  const Operation& operation_;
  const uint64_t number_;
  std::byte* tables_ = nullptr;
  uint64_t own_[2] = {0, 0};
};

// Replaces Reached if no buffer is reached. It leaves nothing in the code.
struct Channel::Unreached {
  Unreached(Channel&, const BoundProgram&, const Operation&) {}
};

}  // namespace tutti::exec
