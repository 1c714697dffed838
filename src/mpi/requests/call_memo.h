// A memo of a call: its arguments without the addresses of its buffers, and how an operation used
// the addresses. A program that makes the same call again, perhaps with other buffers, need not
// have it described again (call_buffers.h).
//
// Memos are plain values of one request; one thread at a time uses them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "eager/neighbours.h"
#include "mpi/abi/known_types.h"
#include "mpi/collectives/call.h"
#include "mpi/requests/call_buffers.h"

namespace tutti::mpi {

class CallMemo {
 public:
  // Remembers a call that `buffers` describe and that `operation` uses, if only addresses could
  // change. `generation` is the registry's: while it stays, handles keep their communicators.
  void note(const Call& call, MPI_Comm comm, uint64_t generation, const CallBuffers& buffers,
            const eager::Operation& operation) {
    valid_ = buffers.is_plain() && !has_special(call) && note_addresses(call, operation);
    call_ = call;
    comm_ = comm;
    generation_ = generation;
  }
  void clear() { valid_ = false; }

  // True if the call has the same arguments; the addresses are then those of in() and out().
  bool is_like(const Call& call, MPI_Comm comm, uint64_t generation) const {
    return valid_ && comm == comm_ && generation == generation_ &&
           call.function == call_.function && is_like(call.in, call_.in) &&
           is_like(call.out, call_.out) && call.root == call_.root && call.op == call_.op &&
           !has_special(call);
  }
  const std::byte* in(const Call& call) const { return pick(in_from_, call); }
  std::byte* out(const Call& call) const { return pick(out_from_, call); }

 private:
  enum class From : uint8_t { nowhere, in, out };

  static bool is_like(const Side& one, const Side& other) {
    return one.count == other.count && one.type == other.type &&
           (one.data == nullptr) == (other.data == nullptr);
  }
  // Special addresses, and one address on both sides, have meanings of their own.
  static bool has_special(const Call& call) {
    return call.in.data == MPI_IN_PLACE || call.out.data == MPI_IN_PLACE ||
           (call.in.data == call.out.data && call.in.data != nullptr &&
            call.shape != Shape::vector);
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
  bool note_addresses(const Call& call, const eager::Operation& operation) {
    return find(operation.in, call, &in_from_) && find(operation.out, call, &out_from_);
  }

  bool valid_ = false;
  From in_from_ = From::nowhere, out_from_ = From::nowhere;
  MPI_Comm comm_{};
  uint64_t generation_ = 0;
  Call call_{};
};

// A memo of a blocking call among neighbours, with copies of its arrays. A program that exchanges
// the same faces again and again need not have them described again. It is valid for the same
// addresses only, and while no datatype has been freed, because a handle may get another type.
class NeighboursMemo {
 public:
  // `own` are the rank's neighbours on the communicator.
  void note(const Call& call, MPI_Comm comm, uint64_t generation, const eager::Neighbourhood& own) {
    const size_t given = plan::parted_in(call.collective) ? own.destinations.size() : 1;
    in_.note(call.in, given);
    out_.note(call.out, own.sources.size());
    function_ = call.function;
    comm_ = comm;
    generation_ = generation;
    types_ = shm::load_relaxed(types_generation);
    valid_ = true;
  }
  void clear() { valid_ = false; }
  bool is_like(const Call& call, MPI_Comm comm, uint64_t generation) const {
    return valid_ && comm == comm_ && generation == generation_ && call.function == function_ &&
           types_ == shm::load_relaxed(types_generation) && in_.is_like(call.in) &&
           out_.is_like(call.out);
  }

 private:
  class SideCopy {
   public:
    void note(const Side& side, size_t blocks) {
      side_ = side;
      bytes_.clear();
      for (const auto& [data, size] : arrays_of(side, blocks))
        if (data != nullptr)
          bytes_.insert(bytes_.end(), static_cast<const std::byte*>(data),
                        static_cast<const std::byte*>(data) + size);
      blocks_ = blocks;
    }
    bool is_like(const Side& side) const {
      if (side.data != side_.data || side.count != side_.count || side.type != side_.type ||
          side.counts.given() != side_.counts.given() ||
          (side.types == nullptr) != (side_.types == nullptr))
        return false;
      size_t at = 0;
      for (const auto& [data, size] : arrays_of(side, blocks_)) {
        if (data == nullptr) continue;
        if (size > 0 && std::memcmp(data, bytes_.data() + at, size) != 0) return false;
        at += size;
      }
      return true;
    }

   private:
    using Array = std::pair<const void*, size_t>;
    static std::array<Array, 5> arrays_of(const Side& side, size_t blocks) {
      return {{{side.counts.plain(), blocks * sizeof(int)},
               {side.counts.large(), blocks * sizeof(MPI_Count)},
               {side.displacements.plain(), blocks * sizeof(int)},
               {side.displacements.large(), blocks * sizeof(MPI_Aint)},
               {side.types, blocks * sizeof(MPI_Datatype)}}};
    }
    Side side_{};
    size_t blocks_ = 0;
    std::vector<std::byte> bytes_;
  };

  bool valid_ = false;
  Function function_{};
  MPI_Comm comm_{};
  uint64_t generation_ = 0, types_ = 0;
  SideCopy in_, out_;
};

}  // namespace tutti::mpi
