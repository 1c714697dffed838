// The general path of all collectives. It judges a call's arguments, packs data if needed, and
// decides whether the communicator's group or the host makes the call. Internal to this directory
// and to the code that makes persistent requests.
//
// Whether the group serves a call depends only on facts that all ranks share (communicator,
// collective, bytes of the signature, operation). Wrong arguments are the one exception: a rank
// judges its own, and if they are wrong it calls the host, which reports the error. Any thread may
// call these functions, one at a time for each communicator.
#pragma once

#include <climits>
#include <cstdint>
#include <optional>

#include "base/error.h"
#include "mpi/host/packing.h"
#include "mpi/collectives/serve.h"
#include "mpi/job/thrown.h"
#include "mpi/report/tracing.h"
#include "report/tally.h"

namespace tutti::mpi {

// The result of trying a call by the group: the code to return, or why the host must make the call.
struct Served {
  Reason reason = Reason::none;
  int code = success;
  Served(Reason why) : reason(why) {}
  Served(int result) : code(result) {}
};
inline Served first_error(int one, int other) { return Served(one != success ? one : other); }

// The limit for the bytes of one buffer. The host makes every call with a larger one.
constexpr size_t most_bytes = PTRDIFF_MAX;

// The bytes of the signature of `count` elements; SIZE_MAX if they are too many for a size_t.
inline size_t bytes_of(Count count, const TypeShape& shape) {
  size_t bytes = 0;
  if (count <= 0) return 0;
  const bool overflows = __builtin_mul_overflow(static_cast<size_t>(count), shape.bytes, &bytes);
  return overflows ? SIZE_MAX : bytes;
}
inline size_t bytes_of(Count count, Datatype type) {
  return bytes_of(count, TypeShape{signature_bytes(type)});
}

// For the report and traces: the bytes of one part, from a side that this rank certainly has. 0 if
// neither is on, or if the type is MPI_DATATYPE_NULL: asking the host for its size would raise an
// error too early.
size_t bytes_to_report(const Call& call);

// True if this host raises an error when a program passes one address as input and output instead
// of MPI_IN_PLACE. A host that does not works as if in place, and so must Tutti: a rank that went
// to the host alone would wait for ever. Open MPI raises the error only for a reduce.
bool host_judges_aliases(Collective collective);
// True if the host raises that error for this call, which moves data and uses both sides at this
// rank: the rank's part has one address on both sides. The test is the host's own, which uses the
// size of the type and not its extent, and in an alltoallv wants one array of counts on both sides.
// A wider test would send this rank to the host alone, while the other ranks wait.
[[gnu::cold]] bool host_finds_alias(const Call& call, int rank);

// The buffers of a call that one rank uses.
struct Roles {
  bool in_place = false;
  bool uses_in = true, uses_out = true;  // the rank gives this side's arguments, and they matter
};
inline Roles roles_of(bool at_root, const Call& call) {
  Roles roles;
  const bool rooted = plan::rooted(call.collective);
  if (plan::scatters(call.collective)) {
    roles.in_place = at_root && call.out.data == abi.in_place;
    roles.uses_in = at_root;
    roles.uses_out = !roles.in_place;
    return roles;
  }
  roles.in_place = (!rooted || at_root) && call.in.data == abi.in_place;
  roles.uses_in = !roles.in_place;
  roles.uses_out = !rooted || at_root;
  return roles;
}

// Each function serves calls by the communicator's group, which must exist. bcast_by_group serves
// the shape `vector`; reduction_by_group serves the shapes `reduction` and `v_reduction`. They
// return Reason::wrong_arguments if this rank's arguments are wrong, or another reason why the host
// must make the call.
Served bcast_by_group(Communicator& communicator, const Call& call);
Served parts_by_group(Communicator& communicator, const Call& call);
Served reduction_by_group(Communicator& communicator, const Call& call);
Served v_parts_by_group(Communicator& communicator, const Call& call);

// The usual call as the group runs it: a few comparisons show that its arguments are right, and its
// data needs no packing. Returns nothing if the general path must look at the call.
std::optional<group::Call> plain_bcast(Communicator& communicator, const Call& call);
std::optional<group::Call> plain_parts(Communicator& communicator, const Call& call);
std::optional<group::Call> plain_reduction(Communicator& communicator, const Call& call);

// The result of looking up the communicator of a call.
struct Found {
  Communicator* communicator = nullptr;  // null: the host makes the call, unless `code` is an error
  int code = success;                    // the code of an error that the look-up raised
  bool gpu = false;                      // buffers may be in a GPU's memory (staged.h)
};
// find() finds the Communicator of a call. find_or_make() does so for a handle that this thread
// does not remember: it may make the Communicator and set it up, by collective calls. It does
// neither, and finds nothing, if a tool hides the call, because some rank may not come here.
Found find_or_make(const Call& call, Comm handle);
inline Found find(const Call& call, Comm handle) {
  const Remembered& known = place_of(handle);
  return is_ready(known, handle) ? Found{known.communicator} : find_or_make(call, handle);
}

// True if this rank's arguments are such that no host makes the call. The host's code may not show
// it: MPICH returns success after an error handler of the program has returned.
bool host_refuses(Comm comm, const Call& call);
// True if the host must make the call, at all ranks, because a tool hides it. Records it.
bool is_hidden(const Call& call);
// Counts a call that the host has made and that returned `code`, unless it has refused this rank's
// arguments; the communicator may set up then. Returns `code`, or an error of the set-up if the
// call succeeded.
int counted(Communicator& communicator, const Call& call, Comm comm, int code);

// Call it after an Error was thrown while a program was made. All ranks throw it, before any has
// entered the collective. Logs it once and returns Reason::no_program: the host makes the call.
Served refused(Communicator& communicator, const Error& error) noexcept;

// This rank and the number of ranks of a communicator. Returns false if the host raises an error,
// and for an intercommunicator, where a call's arguments have another meaning.
bool ranks_of(Comm communicator, int* rank, int* ranks);
inline bool has_one_rank(Comm communicator) {
  int rank = 0, ranks = 0;
  return ranks_of(communicator, &rank, &ranks) && ranks == 1;
}

}  // namespace tutti::mpi
