// A memo of a call: its arguments without the addresses of its buffers, and how an operation used
// the addresses. A program that makes the same call again, perhaps with other buffers, need not
// have it described again (call_buffers.h).
//
// A plain value of one request; one thread at a time uses it.
#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace tutti::mpi
