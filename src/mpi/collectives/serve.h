// Serves calls of collectives that the path of known calls does not (entry/known_calls.h).
//
// A call that the path's comparisons do not pass, or that the group has not noted yet, goes to
// serve_ready. A call on a communicator without a group, a call from inside Tutti or the host, and
// every call while calls are recorded go to serve_any. Any thread may call these functions, one at
// a time for each communicator. All that serve a call return an MPI error code.
#pragma once

#include "mpi/collectives/call.h"
#include "mpi/communicators/registry.h"

namespace tutti::mpi {

// Serves a call on a communicator that has a group.
int serve_ready(Communicator& communicator, const Call& call);
// Serves any call; nothing is known about its communicator or its arguments. V-collectives have no
// shorter path.
int serve_any(const Call& call, Comm comm);

// Called inside MPI_Init if the host does not check arguments. Such a host treats one vector as
// input and output as if MPI_IN_PLACE were given, and so must Tutti.
void tolerate_aliases();

// The key of a known call. Handles are integers or addresses.
inline group::CallKey key_of(Collective collective, Count count, Datatype type, Op op, int root) {
  return {collective, root, (uint64_t)type, (uint64_t)op, static_cast<uint64_t>(count)};
}
inline group::CallKey key_of(Collective collective, Count count, Datatype type, int root) {
  return {collective, root, (uint64_t)type, 0, static_cast<uint64_t>(count)};
}

// The address of this rank's own part in a buffer of parts.
inline std::byte* own_part(const group::Group& group, void* parts, size_t part) {
  return static_cast<std::byte*>(parts) + static_cast<size_t>(group.rank()) * part;
}

// The path of known calls knows MPI_IN_PLACE as a constant, and gives it.
inline bool is_buffer(const void* data, const void* in_place = abi.in_place) {
  return data != nullptr && data != in_place;
}

// True if both sides are buffers of the same type and count: the usual case of a rank that uses
// both.
inline bool sides_agree(const Buffer& in, const Buffer& out, const void* in_place = abi.in_place) {
  return in.type == out.type && in.count == out.count && is_buffer(in.data, in_place) &&
         is_buffer(out.data, in_place);
}

}  // namespace tutti::mpi
