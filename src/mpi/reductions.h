// The collectives that combine: reduce, allreduce, reduce_scatter (MPI_Reduce_scatter_block), scan, exscan. Who calls
// whom is told in calls.h.
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

// On a communicator that has a group: a call that the group has not noted yet, or that takes more than running its program.
int reduction_by_ready(Communicator& communicator, const Reduction& reduction, Form form);

// Handles are integers or addresses.
inline group::CallKey key_of(const Reduction& reduction) {
  return {reduction.collective, reduction.root, (uint64_t)reduction.type, (uint64_t)reduction.op,
          static_cast<uint64_t>(reduction.count)};
}

[[gnu::always_inline]] inline int reduction_without_root(const Reduction& reduction, MPI_Comm communicator, Form form) {
  Communicator* const known = ready_communicator(communicator);
  if (known == nullptr) [[unlikely]] return reduction_by_any(reduction, communicator, form);
  const void* const in = reduction.in;
  void* const out = reduction.out;
  group::KnownCall* const call = known->group()->known(key_of(reduction));
  if (call != nullptr && in != nullptr && out != nullptr && in != out && out != MPI_IN_PLACE) [[likely]]
    return known->finish(known->group()->run(*call, in == MPI_IN_PLACE ? out : in, out));
  return reduction_by_ready(*known, reduction, form);
}

[[gnu::always_inline]] inline int allreduce(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                            MPI_Comm communicator, Form form) {
  return reduction_without_root({plan::Collective::allreduce, in, out, count, type, op, 0}, communicator, form);
}

[[gnu::always_inline]] inline int scan(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                       MPI_Comm communicator, Form form) {
  return reduction_without_root({plan::Collective::scan, in, out, count, type, op, 0}, communicator, form);
}

[[gnu::always_inline]] inline int exscan(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                         MPI_Comm communicator, Form form) {
  return reduction_without_root({plan::Collective::exscan, in, out, count, type, op, 0}, communicator, form);
}

[[gnu::always_inline]] inline int reduce_scatter_block(const void* in, void* out, MPI_Count count, MPI_Datatype type,
                                                       MPI_Op op, MPI_Comm communicator, Form form) {
  return reduction_without_root({plan::Collective::reduce_scatter, in, out, count, type, op, 0}, communicator, form);
}

[[gnu::always_inline]] inline int reduce(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                         int root, MPI_Comm communicator, Form form) {
  const Reduction reduction{plan::Collective::reduce, in, out, count, type, op, root};
  Communicator* const known = ready_communicator(communicator);
  if (known == nullptr) [[unlikely]] return reduction_by_any(reduction, communicator, form);
  group::KnownCall* const call = known->group()->known(key_of(reduction));
  const bool at_root = root == known->group()->rank();
  if (call != nullptr && in != nullptr && in != (at_root ? out : MPI_IN_PLACE) &&
      !(at_root && (out == nullptr || out == MPI_IN_PLACE))) [[likely]]
    return known->finish(known->group()->run(*call, in == MPI_IN_PLACE ? out : in, at_root ? out : nullptr));
  return reduction_by_ready(*known, reduction, form);
}

}  // namespace tutti::mpi
