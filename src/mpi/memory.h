// Memory that programs ask MPI for: MPI_Alloc_mem, MPI_Win_allocate and tutti_alloc, from this
// process's shared heap, where the other ranks of the node reach it directly.
//
// The heap is libtutti-heap.so's where it is preloaded, and then malloc hands it out too; otherwise
// one of this library, made inside MPI_Init. It is never undone: programs keep its memory beyond
// MPI_Finalize. The book of what was handed out has a lock. Any thread.
#pragma once

#include <cstddef>

#include "mpi/host.h"
#include "shm/heap.h"

namespace tutti::mpi {

// This process's heap, made by the first call; null where it cannot be made (said at log level
// info).
shm::Heap* process_heap();
// Whether malloc takes from it: this process runs with libtutti-heap.so, under tutti-run
// --shared-heap.
bool malloc_is_shared();

// Of the heap that was made, aligned to `alignment` (a power of two up to a page); null where there
// is none or it is full.
void* take_memory(size_t bytes, size_t alignment) noexcept;
// True where the memory was taken by take_memory.
bool give_memory(void* address);

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
