// This process's shared heap: memory that programs ask MPI or tutti_alloc for, which the other
// ranks of the node reach directly.
//
// The heap is libtutti-heap.so's where it is preloaded, and then malloc hands it out too; otherwise
// one of this library, which is made by the first call of process_heap(). Programs may keep its
// memory beyond MPI_Finalize, so it ends only if none is in use. A lock guards it. Any thread.
//
// Under valgrind's memcheck this library makes no heap unless TUTTI_REACH=direct asks for it:
// memcheck reads all memory that a process may access, and sees errors only in memory of a malloc
// that it knows.
#pragma once

#include <cstddef>

#include "shm/heap.h"

namespace tutti::shm {

inline constexpr size_t usual_alignment = 64;  // the alignment of the memory that is handed out

// Null where it cannot be made (said at log level
// info).
Heap* process_heap();
// True if malloc takes from it: this process runs with libtutti-heap.so, under tutti-run
// --shared-heap.
bool malloc_is_shared();

// Takes memory from the heap that was made, aligned to `alignment` (a power of two up to a page);
// null where there is none or it is full.
void* take_memory(size_t bytes, size_t alignment) noexcept;
// True where the memory was taken by take_memory.
bool give_memory(void* address);

// True if process_heap() was called.
bool has_process_heap();

// The heap that this process has at this moment, also if only malloc uses it; null: none.
const Heap* kept_heap();

// For the end of MPI, when no team uses the heap: undoes it if it is this library's and no memory
// of it is in use. A later process_heap() makes another one.
void end_unused_heap();

}  // namespace tutti::shm
