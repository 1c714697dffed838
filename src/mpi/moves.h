// The collectives that move data: bcast, gather, scatter, allgather, alltoall. Who calls whom is
// told in calls.h.
//
// What all ranks share of a call with parts is the bytes of one part: at the root of a gather and a
// scatter from the side that matters there, elsewhere from the other, and from the receive side in
// allgather and alltoall. Types and counts may differ between ranks and sides where these bytes do
// not.
#pragma once

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

int bcast_by_any(void* data, MPI_Count count, MPI_Datatype type, int root, MPI_Comm communicator,
                 Form form);
int move_by_any(const Move& move, MPI_Comm communicator, Form form);

// On a communicator that has a group: calls that the group has not noted yet, or that take more
// than running their programs.
int bcast_by_ready(Communicator& communicator, void* data, MPI_Count count, MPI_Datatype type,
                   int root, Form form);
int move_by_ready(Communicator& communicator, const Move& move, Form form);

// By the side whose bytes all ranks share. Handles are integers or addresses.
inline group::CallKey key_of(plan::Collective collective, MPI_Count count, MPI_Datatype type,
                             int root) {
  return {collective, root, (uint64_t)type, 0, static_cast<uint64_t>(count)};
}

[[gnu::always_inline]] inline int bcast(void* data, MPI_Count count, MPI_Datatype type, int root,
                                        MPI_Comm communicator, Form form) {
  const Remembered* const known = ready_communicator(communicator);
  if (known == nullptr) [[unlikely]]
    return bcast_by_any(data, count, type, root, communicator, form);
  group::KnownCall* const call =
      known->group->known(key_of(plan::Collective::bcast, count, type, root));
  if (call != nullptr && data != nullptr) [[likely]]
    return known->communicator->finish(known->group->run(*call, data, data));
  return bcast_by_ready(*known->communicator, data, count, type, root, form);
}

// The place of a rank's own part in a buffer of parts.
inline std::byte* own_part(const group::Group& group, void* parts, size_t part) {
  return static_cast<std::byte*>(parts) + static_cast<size_t>(group.rank()) * part;
}

inline bool is_buffer(const void* data) { return data != nullptr && data != MPI_IN_PLACE; }

// Both sides matter and agree: the usual case of a rank that has two.
inline bool sides_agree(const Side& in, const Side& out) {
  return in.type == out.type && in.count == out.count && is_buffer(in.data) && is_buffer(out.data);
}

[[gnu::always_inline]] inline int gather(const Side& in, const Side& out, int root,
                                         MPI_Comm communicator, Form form) {
  constexpr plan::Collective collective = plan::Collective::gather;
  const Remembered* const known = ready_communicator(communicator);
  if (known == nullptr) [[unlikely]]
    return move_by_any({collective, in, out, root}, communicator, form);
  group::KnownCall* const call = known->group->known(key_of(collective, in.count, in.type, root));
  if (call != nullptr) [[likely]] {
    const bool at_root = root == known->group->rank();
    // A rank's own part must not be given twice: in a buffer of parts, and alone.
    if (at_root ? sides_agree(in, out) &&
                      own_part(*known->group, out.data, call->operation.bytes) != in.data
                : is_buffer(in.data)) [[likely]]
      return known->communicator->finish(
          known->group->run(*call, in.data, at_root ? out.data : nullptr));
  }
  return move_by_ready(*known->communicator, {collective, in, out, root}, form);
}

[[gnu::always_inline]] inline int scatter(const Side& in, const Side& out, int root,
                                          MPI_Comm communicator, Form form) {
  constexpr plan::Collective collective = plan::Collective::scatter;
  const Remembered* const known = ready_communicator(communicator);
  if (known == nullptr) [[unlikely]]
    return move_by_any({collective, in, out, root}, communicator, form);
  group::KnownCall* const call = known->group->known(key_of(collective, out.count, out.type, root));
  if (call != nullptr) [[likely]] {
    const bool at_root = root == known->group->rank();
    if (at_root ? sides_agree(in, out) &&
                      own_part(*known->group, in.data, call->operation.bytes) != out.data
                : is_buffer(out.data)) [[likely]]
      return known->communicator->finish(
          known->group->run(*call, at_root ? in.data : nullptr, out.data));
  }
  return move_by_ready(*known->communicator, {collective, in, out, root}, form);
}

[[gnu::always_inline]] inline int allgather(const Side& in, const Side& out, MPI_Comm communicator,
                                            Form form) {
  constexpr plan::Collective collective = plan::Collective::allgather;
  const Remembered* const known = ready_communicator(communicator);
  if (known == nullptr) [[unlikely]]
    return move_by_any({collective, in, out, 0}, communicator, form);
  group::KnownCall* const call = known->group->known(key_of(collective, out.count, out.type, 0));
  if (call != nullptr && sides_agree(in, out) &&
      own_part(*known->group, out.data, call->operation.bytes) != in.data) [[likely]]
    return known->communicator->finish(known->group->run(*call, in.data, out.data));
  return move_by_ready(*known->communicator, {collective, in, out, 0}, form);
}

[[gnu::always_inline]] inline int alltoall(const Side& in, const Side& out, MPI_Comm communicator,
                                           Form form) {
  constexpr plan::Collective collective = plan::Collective::alltoall;
  const Remembered* const known = ready_communicator(communicator);
  if (known == nullptr) [[unlikely]]
    return move_by_any({collective, in, out, 0}, communicator, form);
  group::KnownCall* const call = known->group->known(key_of(collective, out.count, out.type, 0));
  if (call != nullptr && sides_agree(in, out) && in.data != out.data) [[likely]]
    return known->communicator->finish(known->group->run(*call, in.data, out.data));
  return move_by_ready(*known->communicator, {collective, in, out, 0}, form);
}

}  // namespace tutti::mpi
