// The Fortran entry points of MPI_Alloc_mem and MPI_Free_mem. Which of them would pass the C entry
// points by is told in fortran.cpp. The base comes as the address of an integer of an address's
// size, or of a type(c_ptr): the same to us.
#include "mpi/fortran.h"

#include "mpi/memory.h"

using namespace tutti;
using namespace tutti::mpi::fortran;

namespace {

void alloc_mem(MPI_Aint* size, MPI_Fint* info, void* baseptr, MPI_Fint* error) {
  set(error, mpi::alloc_mem(*size, c_info(*info), baseptr));
}

}  // namespace

TUTTI_ENTRY void mpi_alloc_mem_f08_(MPI_Aint* size, MPI_Fint* info, void* baseptr,
                                    MPI_Fint* error) {
  alloc_mem(size, info, baseptr, error);
}

#if defined(TUTTI_ABI_OPENMPI)

TUTTI_ENTRY void mpi_alloc_mem_(MPI_Aint* size, MPI_Fint* info, void* baseptr, MPI_Fint* error) {
  alloc_mem(size, info, baseptr, error);
}
TUTTI_ENTRY void mpi_free_mem_(void* base, MPI_Fint* error) { set(error, mpi::free_mem(base)); }

// The other names of the same routines.
extern "C" {
void MPI_ALLOC_MEM(MPI_Aint*, MPI_Fint*, void*, MPI_Fint*) TUTTI_SAME_AS("mpi_alloc_mem_");
void mpi_alloc_mem(MPI_Aint*, MPI_Fint*, void*, MPI_Fint*) TUTTI_SAME_AS("mpi_alloc_mem_");
void mpi_alloc_mem__(MPI_Aint*, MPI_Fint*, void*, MPI_Fint*) TUTTI_SAME_AS("mpi_alloc_mem_");
void MPI_ALLOC_MEM_CPTR(MPI_Aint*, MPI_Fint*, void*, MPI_Fint*) TUTTI_SAME_AS("mpi_alloc_mem_");
void mpi_alloc_mem_cptr(MPI_Aint*, MPI_Fint*, void*, MPI_Fint*) TUTTI_SAME_AS("mpi_alloc_mem_");
void mpi_alloc_mem_cptr_(MPI_Aint*, MPI_Fint*, void*, MPI_Fint*) TUTTI_SAME_AS("mpi_alloc_mem_");
void mpi_alloc_mem_cptr__(MPI_Aint*, MPI_Fint*, void*, MPI_Fint*) TUTTI_SAME_AS("mpi_alloc_mem_");

void MPI_FREE_MEM(void*, MPI_Fint*) TUTTI_SAME_AS("mpi_free_mem_");
void mpi_free_mem(void*, MPI_Fint*) TUTTI_SAME_AS("mpi_free_mem_");
void mpi_free_mem__(void*, MPI_Fint*) TUTTI_SAME_AS("mpi_free_mem_");
void mpi_free_mem_f08_(void*, MPI_Fint*) TUTTI_SAME_AS("mpi_free_mem_");
}

#endif
