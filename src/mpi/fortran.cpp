// The Fortran entry points that would pass Tutti by.
//
// MPICH and Intel MPI: mpif.h, `use mpi` and every mpi_f08 routine with a choice buffer call MPI_*
// and so arrive at the C entry points; the mpi_f08 routines without one call PMPI_* and are
// replaced here. Open MPI: every routine calls PMPI_*, so all are replaced, under the names that
// compilers give them: the barrier here, the other collectives in fortran_moves.cpp and
// fortran_reductions.cpp, the polls in fortran_poll.cpp. Begin and end are wrapped, not replaced,
// since the libraries set up their Fortran constants there (fortran_life.cpp).
#include "mpi/fortran.h"

#include "mpi/calls.h"

using namespace tutti;
using namespace tutti::mpi::fortran;

TUTTI_ENTRY void mpi_barrier_f08_(MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::barrier(c_communicator(*comm)));
}

#if defined(TUTTI_ABI_OPENMPI)

TUTTI_ENTRY void mpi_barrier_(MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::barrier(c_communicator(*comm)));
}

// The other names of the same routine.
extern "C" {
void MPI_BARRIER(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_barrier_");
void mpi_barrier(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_barrier_");
void mpi_barrier__(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_barrier_");
}

#endif
