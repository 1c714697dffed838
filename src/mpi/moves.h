// The collectives that move data: bcast, gather, scatter, allgather, alltoall. Who calls whom is told in calls.h.
//
// What all ranks share of a call with parts is the bytes of one part: at the root of a gather and a scatter from the
// side that matters there, elsewhere from the other, and from the receive side in allgather and alltoall. Types and
// counts may differ between ranks and sides where these bytes do not.
#pragma once

#include <climits>

#include "base/error.h"
#include "mpi/book.h"
#include "plan/collective.h"

namespace tutti::mpi {

// One side's arguments; the count is that of one part.
struct Side {
  void* data;  // of the send side, never written
  MPI_Count count;
  MPI_Datatype type;
};

// A call of a collective with parts.
struct Move {
  plan::Collective collective;
  Side in;
  Side out;
  int root;  // 0 where there is none
};

int bcast_by_any(void* data, MPI_Count count, MPI_Datatype type, int root, MPI_Comm communicator, Form form);
int move_by_any(const Move& move, MPI_Comm communicator, Form form);

[[gnu::always_inline]] inline int bcast(void* data, MPI_Count count, MPI_Datatype type, int root, MPI_Comm communicator,
                                        Form form) {
  try {
    if (Communicator* known = ready_communicator(communicator); known != nullptr) [[likely]] {
      const size_t element = known->dense_bytes(type);
      if (element != 0 && count > 0 && data != nullptr && root >= 0 && root < known->group()->ranks()) [[likely]]
        return known->finish(known->group()->bcast(data, static_cast<size_t>(count) * element, root));
    }
  } catch (const Error&) {
  }
  return bcast_by_any(data, count, type, root, communicator, form);
}

// Bytes of a part that a side of a short call has, 0 where the general path must look: another type, a buffer that needs
// care, or a count so large that all parts together might be too many bytes.
[[gnu::always_inline]] inline size_t plain_part(Communicator& communicator, const Side& side) {
  if (side.count <= 0 || side.count > INT_MAX || side.data == nullptr || side.data == MPI_IN_PLACE) return 0;
  return communicator.dense_bytes(side.type) * static_cast<size_t>(side.count);
}

// The place of a rank's own part in a buffer of parts.
inline std::byte* own_part(const Communicator& communicator, void* parts, size_t part) {
  return static_cast<std::byte*>(parts) + static_cast<size_t>(communicator.group()->rank()) * part;
}

// Bytes of a part where both sides matter and agree; else 0.
[[gnu::always_inline]] inline size_t agreed_part(Communicator& communicator, const Side& in, const Side& out) {
  if (in.type != out.type || in.count != out.count || in.data == nullptr || in.data == MPI_IN_PLACE) return 0;
  return plain_part(communicator, out);
}

// The same where a rank's own part must not be given twice: in a buffer of parts, and alone.
[[gnu::always_inline]] inline size_t agreed_part(Communicator& communicator, const Side& parts, const Side& alone,
                                                 const Side& in, const Side& out) {
  const size_t part = agreed_part(communicator, in, out);
  return own_part(communicator, parts.data, part) == alone.data ? 0 : part;
}

[[gnu::always_inline]] inline int gather(const Side& in, const Side& out, int root, MPI_Comm communicator, Form form) {
  try {
    if (Communicator* known = ready_communicator(communicator); known != nullptr) [[likely]] {
      const bool at_root = root == known->group()->rank();
      const size_t part = at_root ? agreed_part(*known, out, in, in, out) : plain_part(*known, in);
      if (part != 0 && root >= 0 && root < known->group()->ranks()) [[likely]]
        return known->finish(known->group()->gather(in.data, at_root ? out.data : nullptr, part, root));
    }
  } catch (const Error&) {
  }
  return move_by_any({plan::Collective::gather, in, out, root}, communicator, form);
}

[[gnu::always_inline]] inline int scatter(const Side& in, const Side& out, int root, MPI_Comm communicator, Form form) {
  try {
    if (Communicator* known = ready_communicator(communicator); known != nullptr) [[likely]] {
      const bool at_root = root == known->group()->rank();
      const size_t part = at_root ? agreed_part(*known, in, out, in, out) : plain_part(*known, out);
      if (part != 0 && root >= 0 && root < known->group()->ranks()) [[likely]]
        return known->finish(known->group()->scatter(at_root ? in.data : nullptr, out.data, part, root));
    }
  } catch (const Error&) {
  }
  return move_by_any({plan::Collective::scatter, in, out, root}, communicator, form);
}

[[gnu::always_inline]] inline int allgather(const Side& in, const Side& out, MPI_Comm communicator, Form form) {
  try {
    if (Communicator* known = ready_communicator(communicator); known != nullptr) [[likely]] {
      const size_t part = agreed_part(*known, out, in, in, out);
      if (part != 0) [[likely]]
        return known->finish(known->group()->allgather(in.data, out.data, part));
    }
  } catch (const Error&) {
  }
  return move_by_any({plan::Collective::allgather, in, out, 0}, communicator, form);
}

[[gnu::always_inline]] inline int alltoall(const Side& in, const Side& out, MPI_Comm communicator, Form form) {
  try {
    if (Communicator* known = ready_communicator(communicator); known != nullptr && in.data != out.data) [[likely]] {
      const size_t part = agreed_part(*known, in, out);
      if (part != 0) [[likely]]
        return known->finish(known->group()->alltoall(in.data, out.data, part));
    }
  } catch (const Error&) {
  }
  return move_by_any({plan::Collective::alltoall, in, out, 0}, communicator, form);
}

}  // namespace tutti::mpi
