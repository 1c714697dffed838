// The Fortran entry points that would pass Tutti by.
//
// MPICH and Intel MPI: mpif.h, `use mpi` and every mpi_f08 routine with a choice buffer call MPI_* and so arrive at the
// C entry points; the mpi_f08 routines without one call PMPI_* and are replaced here. Open MPI: every routine calls
// PMPI_*, so all are replaced, under the names that compilers give them: the collectives here, the polls in
// fortran_poll.cpp. Begin and end are wrapped, not replaced, since the libraries set up their Fortran constants there
// (fortran_life.cpp).
#include "mpi/fortran.h"

#include "mpi/calls.h"

using namespace tutti;
using namespace tutti::mpi::fortran;

TUTTI_ENTRY void mpi_barrier_f08_(MPI_Fint* comm, MPI_Fint* error) { set(error, mpi::barrier(c_communicator(*comm))); }

#if defined(TUTTI_ABI_OPENMPI)

namespace {

MPI_Datatype c_type(MPI_Fint handle) {
  static const auto convert = reinterpret_cast<decltype(&PMPI_Type_f2c)>(mpi::host_symbol("PMPI_Type_f2c"));
  return convert(handle);
}

MPI_Op c_op(MPI_Fint handle) {
  static const auto convert = reinterpret_cast<decltype(&PMPI_Op_f2c)>(mpi::host_symbol("PMPI_Op_f2c"));
  return convert(handle);
}

// MPI_IN_PLACE and MPI_BOTTOM of Fortran are common blocks, known by address; each has a name for every way in which
// compilers write names, and which of them the program uses is the compiler's choice.
struct Constants {
  const void* in_place[4];
  const void* bottom[4];
};

const Constants& constants() {
  using mpi::host_symbol;
  static const Constants found{
      {host_symbol("mpi_fortran_in_place_"), host_symbol("mpi_fortran_in_place"), host_symbol("mpi_fortran_in_place__"),
       host_symbol("MPI_FORTRAN_IN_PLACE")},
      {host_symbol("mpi_fortran_bottom_"), host_symbol("mpi_fortran_bottom"), host_symbol("mpi_fortran_bottom__"),
       host_symbol("MPI_FORTRAN_BOTTOM")}};
  return found;
}

void* c_address(void* buffer) {
  if (buffer == nullptr) return buffer;
  for (const void* in_place : constants().in_place)
    if (buffer == in_place) return MPI_IN_PLACE;
  for (const void* bottom : constants().bottom)
    if (buffer == bottom) return MPI_BOTTOM;
  return buffer;
}

}  // namespace

TUTTI_ENTRY void mpi_barrier_(MPI_Fint* comm, MPI_Fint* error) { set(error, mpi::barrier(c_communicator(*comm))); }

TUTTI_ENTRY void mpi_bcast_(void* buffer, MPI_Fint* count, MPI_Fint* datatype, MPI_Fint* root, MPI_Fint* comm,
                            MPI_Fint* error) {
  set(error, mpi::bcast(c_address(buffer), *count, c_type(*datatype), *root, c_communicator(*comm), mpi::Form::plain));
}

TUTTI_ENTRY void mpi_reduce_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype, MPI_Fint* op,
                             MPI_Fint* root, MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::reduce(c_address(sendbuf), c_address(recvbuf), *count, c_type(*datatype), c_op(*op), *root,
                         c_communicator(*comm), mpi::Form::plain));
}

TUTTI_ENTRY void mpi_allreduce_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype, MPI_Fint* op,
                                MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::allreduce(c_address(sendbuf), c_address(recvbuf), *count, c_type(*datatype), c_op(*op),
                            c_communicator(*comm), mpi::Form::plain));
}

// The other names of the same routines.
extern "C" {
void MPI_BARRIER(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_barrier_");
void mpi_barrier(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_barrier_");
void mpi_barrier__(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_barrier_");

void MPI_BCAST(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_bcast_");
void mpi_bcast(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_bcast_");
void mpi_bcast__(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_bcast_");
void mpi_bcast_f08_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_bcast_");

void MPI_REDUCE(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_");
void mpi_reduce(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_");
void mpi_reduce__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_");
void mpi_reduce_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_");

void MPI_ALLREDUCE(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_allreduce_");
void mpi_allreduce(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_allreduce_");
void mpi_allreduce__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_allreduce_");
void mpi_allreduce_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_allreduce_");
}

#endif
