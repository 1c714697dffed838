// The collectives that combine: reduce, allreduce, reduce_scatter (MPI_Reduce_scatter_block), scan, exscan. Who calls
// whom is told in calls.h.
#pragma once

#include <climits>

#include "base/error.h"
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

using CombineAll = Code (group::Group::*)(const void*, void*, size_t, const exec::Combine&);

template <CombineAll combine_all>
[[gnu::always_inline]] inline int reduction_without_root(plan::Collective collective, const void* in, void* out,
                                                         MPI_Count count, MPI_Datatype type, MPI_Op op,
                                                         MPI_Comm communicator, Form form) {
  try {
    if (Communicator* known = ready_communicator(communicator); known != nullptr) [[likely]] {
      const exec::Combine* combine = known->kernel(type, op);
      if (combine != nullptr && count > 0 && in != nullptr && out != nullptr && in != out && out != MPI_IN_PLACE)
          [[likely]] {
        if (in == MPI_IN_PLACE) in = out;
        return known->finish((known->group()->*combine_all)(in, out, static_cast<size_t>(count), *combine));
      }
    }
  } catch (const Error&) {
    if (in == out) in = MPI_IN_PLACE;  // as it was
  }
  return reduction_by_any({collective, in, out, count, type, op, 0}, communicator, form);
}

[[gnu::always_inline]] inline int allreduce(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                            MPI_Comm communicator, Form form) {
  return reduction_without_root<&group::Group::allreduce>(plan::Collective::allreduce, in, out, count, type, op,
                                                          communicator, form);
}

[[gnu::always_inline]] inline int scan(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                       MPI_Comm communicator, Form form) {
  return reduction_without_root<&group::Group::scan>(plan::Collective::scan, in, out, count, type, op, communicator,
                                                     form);
}

[[gnu::always_inline]] inline int exscan(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                         MPI_Comm communicator, Form form) {
  return reduction_without_root<&group::Group::exscan>(plan::Collective::exscan, in, out, count, type, op,
                                                       communicator, form);
}

[[gnu::always_inline]] inline int reduce_scatter_block(const void* in, void* out, MPI_Count count, MPI_Datatype type,
                                                       MPI_Op op, MPI_Comm communicator, Form form) {
  // The general path sees to it that all parts together are not too many bytes.
  if (count > INT_MAX) [[unlikely]]
    return reduction_by_any({plan::Collective::reduce_scatter, in, out, count, type, op, 0}, communicator, form);
  return reduction_without_root<&group::Group::reduce_scatter>(plan::Collective::reduce_scatter, in, out, count, type,
                                                               op, communicator, form);
}

[[gnu::always_inline]] inline int reduce(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                         int root, MPI_Comm communicator, Form form) {
  try {
    if (Communicator* known = ready_communicator(communicator); known != nullptr) [[likely]] {
      const exec::Combine* combine = known->kernel(type, op);
      const bool at_root = root == known->group()->rank();
      if (combine != nullptr && count > 0 && in != nullptr && root >= 0 && root < known->group()->ranks() &&
          in != (at_root ? out : MPI_IN_PLACE) && !(at_root && (out == nullptr || out == MPI_IN_PLACE))) [[likely]] {
        const void* const from = in == MPI_IN_PLACE ? out : in;
        return known->finish(
            known->group()->reduce(from, at_root ? out : nullptr, static_cast<size_t>(count), *combine, root));
      }
    }
  } catch (const Error&) {
  }
  return reduction_by_any({plan::Collective::reduce, in, out, count, type, op, root}, communicator, form);
}

}  // namespace tutti::mpi
