// From the arguments of an _init call, of C or Fortran, plain or large, to a PersistentCall. Internal to the entry points.
#pragma once

#include "mpi/persistent.h"

namespace tutti::mpi {

// What is given for each buffer: one part, as many equal ones as the collective has, or parts of their own lengths.
inline RaggedSide side_of(const void* data, MPI_Count count, MPI_Datatype type) {
  return {const_cast<void*>(data), count, {}, {}, type, nullptr};
}
template <class Count, class Displacement>
RaggedSide side_of(const void* data, const Count* counts, const Displacement* displacements, MPI_Datatype type) {
  return {const_cast<void*>(data), 0, {counts}, {displacements}, type, nullptr};
}
template <class Count, class Displacement>
RaggedSide side_of(const void* data, const Count* counts, const Displacement* displacements, const MPI_Datatype* types) {
  return {const_cast<void*>(data), 0, {counts}, {displacements}, {}, types};
}

inline PersistentCall persistent_barrier() { return {plan::Collective::barrier, {}, {}}; }
inline PersistentCall persistent_bcast(void* data, MPI_Count count, MPI_Datatype type, int root) {
  return {plan::Collective::bcast, side_of(data, count, type), side_of(data, count, type), root};
}
inline PersistentCall persistent_move(plan::Collective collective, const RaggedSide& in, const RaggedSide& out, int root = 0) {
  return {collective, in, out, root};
}
inline PersistentCall persistent_ragged(plan::Collective collective, const RaggedSide& in, const RaggedSide& out,
                                        int root = 0) {
  return {collective, in, out, root, true};
}
inline PersistentCall persistent_reduction(plan::Collective collective, const void* in, void* out, MPI_Count count,
                                           MPI_Datatype type, MPI_Op op, int root = 0) {
  return {collective, side_of(in, count, type), side_of(out, count, type), root, false, op};
}
template <class Count>
PersistentCall persistent_reduce_scatter(const void* in, void* out, const Count* counts, MPI_Datatype type, MPI_Op op) {
  const RaggedSide from{const_cast<void*>(in), 0, {counts}, {}, type, nullptr};
  const RaggedSide to{out, 0, {counts}, {}, type, nullptr};
  return {plan::Collective::reduce_scatter, from, to, 0, true, op};
}

// The host's own function, where it has one.
template <class... Parameters, class... Arguments>
int ask_host(int (*function)(Parameters...), Arguments... arguments) {
  return function != nullptr ? function(arguments...) : MPI_ERR_OTHER;
}

}  // namespace tutti::mpi
