// A memo of a call: its arguments, with copies of its arrays, and how an operation used the
// addresses of its buffers. A program that makes the same call again need not have it described
// again (call_buffers.h). The buffers may be elsewhere in memory if nothing but their addresses
// would change. Otherwise they must be the same, and no datatype may have been freed since, because
// its handle may name another type now.
//
// Memos are plain values of one request; one thread at a time uses them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "mpi/host/known_types.h"
#include "mpi/collectives/call.h"
#include "mpi/requests/call_buffers.h"

namespace tutti::mpi {

class CallMemo {
 public:
  // How many entries of each side's arrays matter at this rank.
  struct Entries {
    size_t in = 0, out = 0;
  };

  // Remembers a call that `buffers` describe and that `operation` uses, unless the description
  // serves one call only. `generation` is the registry's: while it stays, handles keep their
  // communicators. Throws bad_alloc; the memo is then not valid.
  void note(const Call& call, Comm comm, uint64_t generation, Entries entries,
            const CallBuffers& buffers, const records::Operation& operation) {
    valid_ = false;
    if (!buffers.serves_again()) return;
    alias_ = buffers.alias();
    movable_ = buffers.is_plain() && !has_special(call) && !is_alias(call) &&
               note_addresses(call, operation);
    if (!movable_) {
      in_.note(call.in, entries.in);
      out_.note(call.out, entries.out);
      types_ = shm::load_relaxed(types_generation);
      in_at_ = operation.in;
      out_at_ = operation.out;
    }
    call_ = call;
    comm_ = comm;
    generation_ = generation;
    valid_ = true;
  }
  void clear() { valid_ = false; }

  // True if the call has the same arguments; in() and out() are then its addresses.
  [[gnu::always_inline]] bool is_like(const Call& call, Comm comm, uint64_t generation) const {
    if (!valid_ || comm != comm_ || generation != generation_ || call.function != call_.function ||
        call.root != call_.root || call.op != call_.op)
      return false;
    if (movable_)
      return is_like(call.in, call_.in) && is_like(call.out, call_.out) && !has_special(call) &&
             !is_alias(call);
    return types_ == shm::load_relaxed(types_generation) && in_.is_like(call.in) &&
           out_.is_like(call.out);
  }
  const std::byte* in(const Call& call) const { return movable_ ? pick(in_from_, call) : in_at_; }
  std::byte* out(const Call& call) const { return movable_ ? pick(out_from_, call) : out_at_; }
  // False if the call may have types of the program's own, which a start must hold.
  bool is_movable() const { return movable_; }

 private:
  enum class From : uint8_t { nowhere, in, out };

  // A side with copies of its arrays.
  class SideCopy {
   public:
    void note(const Side& side, size_t entries) {
      side_ = side;
      entries_ = entries;
      bytes_.clear();
      for (const auto& [data, size] : arrays_of(side, entries)) keep(data, size);
      keep(side.types.of_host(), Datatypes::bytes_of(entries));
    }
    bool is_like(const Side& side) const {
      if (side.data != side_.data || side.count != side_.count || side.type != side_.type ||
          side.counts.given() != side_.counts.given() || side.types.given() != side_.types.given())
        return false;
      if (entries_ == 0) return true;
      size_t at = 0;
      for (const auto& [data, size] : arrays_of(side, entries_)) {
        if (data == nullptr) continue;
        if (std::memcmp(data, bytes_.data() + at, size) != 0) return false;
        at += size;
      }
      return !side.types.given() || std::memcmp(side.types.of_host(), bytes_.data() + at,
                                                Datatypes::bytes_of(entries_)) == 0;
    }

   private:
    void keep(const void* data, size_t size) {
      if (data == nullptr) return;
      const auto* const first = static_cast<const std::byte*>(data);
      bytes_.insert(bytes_.end(), first, first + size);
    }
    // The arrays of numbers.
    using Array = std::pair<const void*, size_t>;
    static std::array<Array, 2> arrays_of(const Side& side, size_t entries) {
      return {{{side.counts.data(), side.counts.bytes_of(entries)},
               {side.displacements.data(), side.displacements.bytes_of(entries)}}};
    }
    Side side_{};
    size_t entries_ = 0;
    std::vector<std::byte> bytes_;
  };

  // Apart from the address.
  static bool is_like(const Side& one, const Side& other) {
    return one.count == other.count && one.type == other.type &&
           (one.data == nullptr) == (other.data == nullptr);
  }
  // Special addresses, and one address on both sides, have meanings of their own.
  static bool has_special(const Call& call) {
    return call.in.data == abi.in_place || call.out.data == abi.in_place ||
           (call.in.data == call.out.data && call.in.data != nullptr &&
            call.shape != Shape::vector);
  }
  // So has one address of the rank's own part.
  bool is_alias(const Call& call) const {
    return reinterpret_cast<uintptr_t>(call.out.data) - reinterpret_cast<uintptr_t>(call.in.data) ==
           static_cast<uintptr_t>(alias_);
  }
  static std::byte* pick(From from, const Call& call) {
    if (from == From::nowhere) return nullptr;
    return static_cast<std::byte*>(from == From::in ? call.in.data : call.out.data);
  }
  static bool find(const void* address, const Call& call, From* from) {
    *from = From::nowhere;
    if (address == nullptr) return true;
    *from = address == call.in.data ? From::in : From::out;
    return address == call.in.data || address == call.out.data;
  }
  bool note_addresses(const Call& call, const records::Operation& operation) {
    return find(operation.in, call, &in_from_) && find(operation.out, call, &out_from_);
  }

  bool valid_ = false;
  bool movable_ = false;  // only the addresses of the buffers may change
  From in_from_ = From::nowhere, out_from_ = From::nowhere;
  Comm comm_{};
  uint64_t generation_ = 0;
  Call call_{};
  ptrdiff_t alias_ = 0;  // the alias of CallBuffers
  // The next members describe a call that is not movable.
  uint64_t types_ = 0;
  const std::byte* in_at_ = nullptr;
  std::byte* out_at_ = nullptr;
  SideCopy in_, out_;
};

}  // namespace tutti::mpi
