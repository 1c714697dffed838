// The collectives that combine: reduce, allreduce, reduce_scatter (MPI_Reduce_scatter_block), scan,
// exscan. Who calls whom is told in calls.h.
#pragma once

#include "mpi/book.h"
#include "plan/collective.h"

namespace tutti::mpi {

// A call's arguments. The count is that of one part where the collective has parts.
struct Reduction {
  plan::Collective collective;
  const void* in;
  void* out;
  MPI_Count count;
  MPI_Datatype type;
  MPI_Op op;
  int root;  // 0 where there is none
};
int reduction_by_any(const Reduction& reduction, MPI_Comm communicator, Form form);

// On a communicator that has a group: a call that the group has not noted yet, or that takes more
// than running its program.
int reduction_by_ready(Communicator& communicator, const Reduction& reduction, Form form);

// Handles are integers or addresses.
inline group::CallKey key_of(plan::Collective collective, MPI_Count count, MPI_Datatype type,
                             MPI_Op op, int root) {
  return {collective, root, (uint64_t)type, (uint64_t)op, static_cast<uint64_t>(count)};
}

// A Reduction is made only where the usual case fails, because its memory would be written in every
// call.
[[gnu::always_inline]] inline int reduction_without_root(plan::Collective collective,
                                                         const void* in, void* out, MPI_Count count,
                                                         MPI_Datatype type, MPI_Op op,
                                                         MPI_Comm communicator, Form form) {
  const Remembered* const known = ready_communicator(communicator);
  if (known == nullptr) [[unlikely]]
    return reduction_by_any({collective, in, out, count, type, op, 0}, communicator, form);
  group::KnownCall* const call = known->group->known(key_of(collective, count, type, op, 0));
  if (call != nullptr && in != nullptr && out != nullptr && in != out && out != MPI_IN_PLACE)
      [[likely]]
    return known->communicator->finish(
        known->group->run_combining(*call, in == MPI_IN_PLACE ? out : in, out));
  return reduction_by_ready(*known->communicator, {collective, in, out, count, type, op, 0}, form);
}

[[gnu::always_inline]] inline int allreduce(const void* in, void* out, MPI_Count count,
                                            MPI_Datatype type, MPI_Op op, MPI_Comm communicator,
                                            Form form) {
  return reduction_without_root(plan::Collective::allreduce, in, out, count, type, op, communicator,
                                form);
}

[[gnu::always_inline]] inline int scan(const void* in, void* out, MPI_Count count,
                                       MPI_Datatype type, MPI_Op op, MPI_Comm communicator,
                                       Form form) {
  return reduction_without_root(plan::Collective::scan, in, out, count, type, op, communicator,
                                form);
}

[[gnu::always_inline]] inline int exscan(const void* in, void* out, MPI_Count count,
                                         MPI_Datatype type, MPI_Op op, MPI_Comm communicator,
                                         Form form) {
  return reduction_without_root(plan::Collective::exscan, in, out, count, type, op, communicator,
                                form);
}

[[gnu::always_inline]] inline int reduce_scatter_block(const void* in, void* out, MPI_Count count,
                                                       MPI_Datatype type, MPI_Op op,
                                                       MPI_Comm communicator, Form form) {
  return reduction_without_root(plan::Collective::reduce_scatter, in, out, count, type, op,
                                communicator, form);
}

[[gnu::always_inline]] inline int reduce(const void* in, void* out, MPI_Count count,
                                         MPI_Datatype type, MPI_Op op, int root,
                                         MPI_Comm communicator, Form form) {
  constexpr plan::Collective collective = plan::Collective::reduce;
  const Remembered* const known = ready_communicator(communicator);
  if (known == nullptr) [[unlikely]]
    return reduction_by_any({collective, in, out, count, type, op, root}, communicator, form);
  group::KnownCall* const call = known->group->known(key_of(collective, count, type, op, root));
  const bool at_root = root == known->group->rank();
  if (call != nullptr && in != nullptr && in != (at_root ? out : MPI_IN_PLACE) &&
      !(at_root && (out == nullptr || out == MPI_IN_PLACE))) [[likely]]
    return known->communicator->finish(
        known->group->run_combining(*call, in == MPI_IN_PLACE ? out : in, at_root ? out : nullptr));
  return reduction_by_ready(*known->communicator, {collective, in, out, count, type, op, root},
                            form);
}

}  // namespace tutti::mpi
