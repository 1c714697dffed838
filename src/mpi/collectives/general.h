// The general path of all collectives: a call whose arguments must be judged, which may need
// packing, or which the host must make. Internal to this room and to what makes persistent
// requests.
//
// Decisions are made by what all ranks share (communicator, collective, bytes of the signature,
// operation). Only wrong arguments are judged by one rank alone, and those are the host's.
#pragma once

#include <climits>
#include <cstdint>
#include <optional>

#include "base/error.h"
#include "mpi/abi/packing.h"
#include "mpi/collectives/serve.h"
#include "mpi/job/thrown.h"
#include "mpi/report/tracing.h"
#include "report/tally.h"

namespace tutti::mpi {

// How a group served a call: the code to return, or why the host must make the call.
struct Served {
  Reason reason = Reason::none;
  int code = MPI_SUCCESS;
  Served(Reason why) : reason(why) {}
  Served(int result) : code(result) {}
};
inline Served first_error(int one, int other) { return Served(one != MPI_SUCCESS ? one : other); }

// The most bytes that one buffer may have; a call beyond it is the host's.
constexpr size_t most_bytes = PTRDIFF_MAX;

// Bytes of the signature; SIZE_MAX where no number holds them.
inline size_t bytes_of(MPI_Count count, const TypeShape& shape) {
  size_t bytes = 0;
  if (count <= 0) return 0;
  const bool overflows = __builtin_mul_overflow(static_cast<size_t>(count), shape.bytes, &bytes);
  return overflows ? SIZE_MAX : bytes;
}
inline size_t bytes_of(MPI_Count count, MPI_Datatype type) {
  return bytes_of(count, TypeShape{signature_bytes(type)});
}

// For the report and traces alone, 0 where there are none: the bytes of a part that this rank
// surely has. The host is not asked for the size of a wrong type, which would raise an error too
// early.
size_t bytes_to_report(const Call& call);

// True where this host raises an error for one address as input and output where MPI asks for
// MPI_IN_PLACE. Where it does not, it works as if in place, and so must Tutti: such a rank alone on
// the host would wait for ever. Open MPI judges it of a reduce only.
bool host_judges_aliases(Collective collective);

// Which of a call's buffers matter at one rank.
struct Roles {
  bool in_place = false;
  bool uses_in = true, uses_out = true;  // the side's arguments are given and matter
};
inline Roles roles_of(bool at_root, const Call& call) {
  Roles roles;
  const bool rooted = plan::rooted(call.collective);
  if (plan::scatters(call.collective)) {
    roles.in_place = at_root && call.out.data == MPI_IN_PLACE;
    roles.uses_in = at_root;
    roles.uses_out = !roles.in_place;
    return roles;
  }
  roles.in_place = (!rooted || at_root) && call.in.data == MPI_IN_PLACE;
  roles.uses_in = !roles.in_place;
  roles.uses_out = !rooted || at_root;
  return roles;
}

// The shapes of calls by a group, which the communicator has. Each defines a call of at least one
// rank's arguments as wrong by itself.
Served bcast_by_group(Communicator& communicator, const Call& call);
Served parts_by_group(Communicator& communicator, const Call& call);
Served reduction_by_group(Communicator& communicator, const Call& call);
Served v_parts_by_group(Communicator& communicator, const Call& call);

// The call as the group runs it where nothing has to be judged but what every call shows, and no
// packing is needed: most calls. Nothing where the general path must look.
std::optional<group::Call> plain_bcast(Communicator& communicator, const Call& call);
std::optional<group::Call> plain_parts(Communicator& communicator, const Call& call);
std::optional<group::Call> plain_reduction(Communicator& communicator, const Call& call);

// The communicator of a call.
struct Found {
  Communicator* communicator = nullptr;  // null: the call is none of Tutti's
  int code = MPI_SUCCESS;                // of an error that was raised meanwhile
};
Found find_or_make(MPI_Comm handle);
inline Found find(MPI_Comm handle) {
  const Remembered& known = place_of(handle);
  return is_ready(known, handle) ? Found{known.communicator} : find_or_make(handle);
}

// After a call that the host has made: its code, or an error of the set-up that came with it.
int counted(Communicator& communicator, int code);

// An Error was thrown while making a program: by all ranks, before any arrived.
Served refused(Communicator& communicator, const Error& error) noexcept;

// This rank and the ranks of a communicator; false where the host raises an error, and between the
// groups of an intercommunicator, whose arguments mean something else.
bool ranks_of(MPI_Comm communicator, int* rank, int* ranks);

}  // namespace tutti::mpi
