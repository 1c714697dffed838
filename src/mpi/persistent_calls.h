// From the arguments of an _init call to a PersistentCall, and to the host's function where the
// host must make the request. One function for all calls of one form, in C, with large counts, and
// in Fortran: Count is int or MPI_Count, and the host's function is given, null where it has none.
// Internal to the entry points.
#pragma once

#include "mpi/persistent.h"

namespace tutti::mpi {

// The arguments that stand last in every call.
struct Asked {
  MPI_Comm comm;
  MPI_Info info;
  MPI_Request* request;
};

// What is given for each buffer: one part, as many equal ones as the collective has, or parts of
// their own lengths.
inline VSide side_of(const void* data, MPI_Count count, MPI_Datatype type) {
  return {const_cast<void*>(data), count, {}, {}, type, nullptr};
}
template <class Count, class Displacement>
VSide side_of(const void* data, const Count* counts, const Displacement* displacements,
              MPI_Datatype type) {
  return {const_cast<void*>(data), 0, {counts}, {displacements}, type, nullptr};
}
template <class Count, class Displacement>
VSide side_of(const void* data, const Count* counts, const Displacement* displacements,
              const MPI_Datatype* types) {
  return {const_cast<void*>(data), 0, {counts}, {displacements}, {}, types};
}

template <class... Parameters, class... Arguments>
int init_call(const PersistentCall& call, const Asked& asked, int (*by_host)(Parameters...),
              Arguments... arguments) {
  return persistent_init(call, asked.comm, asked.request, [&] {
    return by_host != nullptr ? by_host(arguments..., asked.comm, asked.info, asked.request)
                              : MPI_ERR_OTHER;
  });
}

inline int init_barrier(const Asked& asked) {
  return init_call({plan::Collective::barrier, {}, {}}, asked, host().Barrier_init);
}

template <class Count>
int init_bcast(BcastInit<Count>* by_host, void* data, Count count, MPI_Datatype type, int root,
               const Asked& asked) {
  const VSide side = side_of(data, count, type);
  return init_call({plan::Collective::bcast, side, side, root}, asked, by_host, data, count, type,
                   root);
}

template <class Count>
int init_move(plan::Collective collective, MoveInit<Count>* by_host, const void* in, Count in_count,
              MPI_Datatype in_type, void* out, Count out_count, MPI_Datatype out_type,
              const Asked& asked) {
  return init_call({collective, side_of(in, in_count, in_type), side_of(out, out_count, out_type)},
                   asked, by_host, in, in_count, in_type, out, out_count, out_type);
}

template <class Count>
int init_rooted_move(plan::Collective collective, RootedMoveInit<Count>* by_host, const void* in,
                     Count in_count, MPI_Datatype in_type, void* out, Count out_count,
                     MPI_Datatype out_type, int root, const Asked& asked) {
  return init_call(
      {collective, side_of(in, in_count, in_type), side_of(out, out_count, out_type), root}, asked,
      by_host, in, in_count, in_type, out, out_count, out_type, root);
}

template <class Count, class Displacement>
int init_gatherv(GathervInit<Count, Displacement>* by_host, const void* in, Count in_count,
                 MPI_Datatype in_type, void* out, const Count* out_counts,
                 const Displacement* out_displs, MPI_Datatype out_type, int root,
                 const Asked& asked) {
  return init_call({plan::Collective::gather, side_of(in, in_count, in_type),
                    side_of(out, out_counts, out_displs, out_type), root, true},
                   asked, by_host, in, in_count, in_type, out, out_counts, out_displs, out_type,
                   root);
}

template <class Count, class Displacement>
int init_scatterv(ScattervInit<Count, Displacement>* by_host, const void* in,
                  const Count* in_counts, const Displacement* in_displs, MPI_Datatype in_type,
                  void* out, Count out_count, MPI_Datatype out_type, int root, const Asked& asked) {
  return init_call({plan::Collective::scatter, side_of(in, in_counts, in_displs, in_type),
                    side_of(out, out_count, out_type), root, true},
                   asked, by_host, in, in_counts, in_displs, in_type, out, out_count, out_type,
                   root);
}

template <class Count, class Displacement>
int init_allgatherv(AllgathervInit<Count, Displacement>* by_host, const void* in, Count in_count,
                    MPI_Datatype in_type, void* out, const Count* out_counts,
                    const Displacement* out_displs, MPI_Datatype out_type, const Asked& asked) {
  return init_call({plan::Collective::allgather, side_of(in, in_count, in_type),
                    side_of(out, out_counts, out_displs, out_type), 0, true},
                   asked, by_host, in, in_count, in_type, out, out_counts, out_displs, out_type);
}

// An alltoallv, with one type a side, or an alltoallw, with one for each part.
template <class Count, class Displacement, class Types, class ByHost>
int init_v_alltoall(ByHost* by_host, const void* in, const Count* in_counts,
                    const Displacement* in_displs, Types in_types, void* out,
                    const Count* out_counts, const Displacement* out_displs, Types out_types,
                    const Asked& asked) {
  return init_call({plan::Collective::alltoall, side_of(in, in_counts, in_displs, in_types),
                    side_of(out, out_counts, out_displs, out_types), 0, true},
                   asked, by_host, in, in_counts, in_displs, in_types, out, out_counts, out_displs,
                   out_types);
}

template <class Count>
int init_reduce(ReduceInit<Count>* by_host, const void* in, void* out, Count count,
                MPI_Datatype type, MPI_Op op, int root, const Asked& asked) {
  return init_call({plan::Collective::reduce, side_of(in, count, type), side_of(out, count, type),
                    root, false, op},
                   asked, by_host, in, out, count, type, op, root);
}

template <class Count>
int init_reduction(plan::Collective collective, ReductionInit<Count>* by_host, const void* in,
                   void* out, Count count, MPI_Datatype type, MPI_Op op, const Asked& asked) {
  return init_call({collective, side_of(in, count, type), side_of(out, count, type), 0, false, op},
                   asked, by_host, in, out, count, type, op);
}

template <class Count>
int init_reduce_scatter(ReduceScatterInit<Count>* by_host, const void* in, void* out,
                        const Count* counts, MPI_Datatype type, MPI_Op op, const Asked& asked) {
  const VSide from{const_cast<void*>(in), 0, {counts}, {}, type, nullptr};
  const VSide to{out, 0, {counts}, {}, type, nullptr};
  return init_call({plan::Collective::reduce_scatter, from, to, 0, true, op}, asked, by_host, in,
                   out, counts, type, op);
}

}  // namespace tutti::mpi
