// The memory that programs get from MPI_Alloc_mem, MPI_Win_allocate and tutti_alloc. It comes from
// this process's shared heap (shm/process_heap.h), so that the other ranks of the node reach it
// directly.
//
// A table has the windows over this memory, by handle, under a lock; it is never destroyed. Any
// thread may call.
#pragma once

#include "mpi/host/host.h"

namespace tutti::mpi {

// MPI's functions of these names. The host's functions serve what the heap does not.
int alloc_mem(Aint size, Info info, void* baseptr);
int free_mem(void* base);
int win_create(void* base, Aint size, int unit, Info info, Comm communicator, Win* window);
int win_free(Win* window);
int win_get_attr(Win window, int keyval, void* value, int* flag);

// Uses the heap only with TUTTI_SHARED_HEAP, because in some hosts puts and gets are much slower on
// windows whose memory the host did not allocate (docs/decisions/windows-stay-with-the-host.md).
int win_allocate(Aint size, int unit, Info info, Comm communicator, void* baseptr, Win* window);

}  // namespace tutti::mpi
