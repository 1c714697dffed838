// Memory that programs ask MPI for: MPI_Alloc_mem, MPI_Win_allocate and tutti_alloc, from this
// process's shared heap, where the other ranks of the node reach it directly.
//
// shm/process_heap.h has that heap. The table of windows over its memory has a lock. Any thread.
#pragma once

#include "mpi/abi/host.h"

namespace tutti::mpi {

// As MPI's functions, which serve whatever the heap does not.
int alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr);
int free_mem(void* base);
int win_free(MPI_Win* window);
int win_get_attr(MPI_Win window, int keyval, void* value, int* flag);

// From the heap with TUTTI_SHARED_HEAP alone: windows over memory that the host did not allocate
// are much slower for puts and gets in some hosts (docs/decisions/windows-stay-with-the-host.md).
int win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm communicator, void* baseptr,
                 MPI_Win* window);

}  // namespace tutti::mpi
