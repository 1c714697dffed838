// How an MPI call of a collective gets to the communicator's group, or to the host MPI.
//
// The templates are the path of calls that were made before: find the communicator, find the call
// among those that its group has noted, run it. A few comparisons judge the arguments. All other
// calls go on to collectives/serve.h. An 8-byte allreduce of two ranks takes about 200 instructions
// here and in the executor (tests/mpi/test_cost.py checks the number). The templates take handles
// of the house and compare addresses with the constants of mpi.h, which costs no load.
//
// Any thread may call these functions, one at a time for each communicator. All that serve a call
// return an MPI error code.
#pragma once

#include "mpi/abi/abi.h"
#include "mpi/collectives/serve.h"

namespace tutti::mpi {

template <Function function>
[[gnu::always_inline]] inline int serve_barrier(Comm comm) {
  const auto as_made = [] { return Call{function, Shape::barrier, Collective::barrier}; };
  const Remembered* const known = ready_communicator(comm);
  if (known == nullptr) [[unlikely]]
    return serve_any(as_made(), comm);
  group::KnownCall* const call = known->group->known({Collective::barrier, 0, 0, 0, 0});
  if (call != nullptr) [[likely]]
    return known->communicator->finish(known->group->run(*call, nullptr, nullptr));
  return serve_ready(*known->communicator, as_made());
}

// One vector, which the root has and all get.
template <Collective collective, Function function>
[[gnu::always_inline]] inline int serve_vector(void* data, Count count, Datatype type, int root,
                                               Comm comm) {
  const auto as_made = [&] {
    const Side side = side_of({data, count, type});
    return Call{function, Shape::vector, collective, side, side, root};
  };
  const Remembered* const known = ready_communicator(comm);
  if (known == nullptr) [[unlikely]]
    return serve_any(as_made(), comm);
  group::KnownCall* const call = known->group->known(key_of(collective, count, type, root));
  if (call != nullptr && data != nullptr) [[likely]]
    return known->communicator->finish(known->group->run(*call, data, data));
  return serve_ready(*known->communicator, as_made());
}

// A part for each rank, all of one length. The bytes of one part, which all ranks share, come from
// the side that every rank uses (unless it is in place).
template <Collective collective, Function function>
[[gnu::always_inline]] inline int serve_parts(const Buffer& in, const Buffer& out, int root,
                                              Comm comm) {
  constexpr bool rooted = plan::rooted(collective), gathers = plan::gathers(collective);
  const auto as_made = [&] {
    return Call{function, Shape::parts, collective, side_of(in), side_of(out), root};
  };
  const Remembered* const known = ready_communicator(comm);
  if (known == nullptr) [[unlikely]]
    return serve_any(as_made(), comm);
  const Buffer& shared = gathers ? in : out;
  group::KnownCall* const call =
      known->group->known(key_of(collective, shared.count, shared.type, root));
  if (call != nullptr) [[likely]] {
    const bool both = !rooted || root == known->group->rank();
    // True if this rank's own part is not given twice, in a buffer of parts and alone.
    const auto distinct = [&] {
      if constexpr (plan::exchanges(collective)) return in.data != out.data;
      const Buffer& parts = plan::scatters(collective) ? in : out;
      const Buffer& alone = plan::scatters(collective) ? out : in;
      return own_part(*known->group, parts.data, call->operation.bytes) != alone.data;
    };
    if (both ? sides_agree(in, out, MPI_IN_PLACE) && distinct()
             : is_buffer(shared.data, MPI_IN_PLACE)) [[likely]] {
      const void* const from = both || gathers ? in.data : nullptr;
      void* const to = both || !gathers ? out.data : nullptr;
      return known->communicator->finish(known->group->run(*call, from, to));
    }
  }
  return serve_ready(*known->communicator, as_made());
}

// Vectors that are combined. If there is a root, only the root gets the result.
template <Collective collective, Function function>
[[gnu::always_inline]] inline int serve_reduction(const void* in, void* out, Count count,
                                                  Datatype type, Op op, int root, Comm comm) {
  const auto as_made = [&] {
    return Call{function,
                Shape::reduction,
                collective,
                side_of({const_cast<void*>(in), count, type}),
                side_of({out, count, type}),
                root,
                op};
  };
  const Remembered* const known = ready_communicator(comm);
  if (known == nullptr) [[unlikely]]
    return serve_any(as_made(), comm);
  group::KnownCall* const call = known->group->known(key_of(collective, count, type, op, root));
  if constexpr (plan::rooted(collective)) {
    const bool at_root = root == known->group->rank();
    if (call != nullptr && in != nullptr && in != (at_root ? out : MPI_IN_PLACE) &&
        !(at_root && (out == nullptr || out == MPI_IN_PLACE))) [[likely]]
      return known->communicator->finish(known->group->run_combining(
          *call, in == MPI_IN_PLACE ? out : in, at_root ? out : nullptr));
  } else {
    if (call != nullptr && in != nullptr && out != nullptr && in != out && out != MPI_IN_PLACE)
        [[likely]]
      return known->communicator->finish(
          known->group->run_combining(*call, in == MPI_IN_PLACE ? out : in, out));
  }
  return serve_ready(*known->communicator, as_made());
}

}  // namespace tutti::mpi
