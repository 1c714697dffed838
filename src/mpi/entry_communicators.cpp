// The functions that make and free communicators, under both names, MPI_* and PMPI_*: Fortran
// bindings and tools call the second ones. The host does the work. The book is told, so that a
// communicator that lives for a few calls needs no attribute (book.h).
//
// SMPI's ranks call the host directly.
#include "mpi/book.h"
#include "mpi/host.h"

#if !defined(TUTTI_ABI_SMPI)

using namespace tutti;

// `call` makes *communicator.
template <class Call>
static int make(MPI_Comm* communicator, Call&& call) {
  const int code = call();
  if (code == MPI_SUCCESS) mpi::communicator_made(*communicator);
  return code;
}

// The book is told before the host is: from then on another thread may get the handle.
template <class Call>
static int end(const MPI_Comm* communicator, Call&& call) {
  if (communicator != nullptr) mpi::communicator_ends(*communicator);
  return call();
}

#define TUTTI_BOTH_NAMES(name, job, communicator, parameters, arguments)                  \
  extern "C" __attribute__((visibility("default"))) int MPI_##name parameters {           \
    return job(communicator, [&] { return mpi::host().makers.name arguments; });          \
  }                                                                                       \
  extern "C" __attribute__((visibility("default"))) int PMPI_##name parameters {          \
    return job(communicator, [&] { return mpi::host().profiled_makers.name arguments; }); \
  }

TUTTI_BOTH_NAMES(Comm_dup, make, made, (MPI_Comm comm, MPI_Comm* made), (comm, made))
TUTTI_BOTH_NAMES(Comm_dup_with_info, make, made, (MPI_Comm comm, MPI_Info info, MPI_Comm* made),
                 (comm, info, made))
TUTTI_BOTH_NAMES(Comm_create, make, made, (MPI_Comm comm, MPI_Group group, MPI_Comm* made),
                 (comm, group, made))
TUTTI_BOTH_NAMES(Comm_create_group, make, made,
                 (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made),
                 (comm, group, tag, made))
TUTTI_BOTH_NAMES(Comm_split, make, made, (MPI_Comm comm, int color, int key, MPI_Comm* made),
                 (comm, color, key, made))
TUTTI_BOTH_NAMES(Comm_split_type, make, made,
                 (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
                 (comm, type, key, info, made))
TUTTI_BOTH_NAMES(Cart_create, make, made,
                 (MPI_Comm comm, int dimensions, const int lengths[], const int periods[],
                  int reorder, MPI_Comm* made),
                 (comm, dimensions, lengths, periods, reorder, made))
TUTTI_BOTH_NAMES(Cart_sub, make, made, (MPI_Comm comm, const int remaining[], MPI_Comm* made),
                 (comm, remaining, made))
TUTTI_BOTH_NAMES(Graph_create, make, made,
                 (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
                  MPI_Comm* made),
                 (comm, nodes, index, edges, reorder, made))
TUTTI_BOTH_NAMES(Dist_graph_create, make, made,
                 (MPI_Comm comm, int n, const int sources[], const int degrees[],
                  const int destinations[], const int weights[], MPI_Info info, int reorder,
                  MPI_Comm* made),
                 (comm, n, sources, degrees, destinations, weights, info, reorder, made))
TUTTI_BOTH_NAMES(Dist_graph_create_adjacent, make, made,
                 (MPI_Comm comm, int in, const int sources[], const int source_weights[], int out,
                  const int destinations[], const int destination_weights[], MPI_Info info,
                  int reorder, MPI_Comm* made),
                 (comm, in, sources, source_weights, out, destinations, destination_weights, info,
                  reorder, made))
TUTTI_BOTH_NAMES(Comm_free, end, comm, (MPI_Comm * comm), (comm))
TUTTI_BOTH_NAMES(Comm_disconnect, end, comm, (MPI_Comm * comm), (comm))

#endif
