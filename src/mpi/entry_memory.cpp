// The C entry points of what gives programs memory (memory.h), and of tutti.h what MPI programs
// call.
#include <cstdlib>

#include "mpi/book.h"
#include "mpi/memory.h"

#define TUTTI_ENTRY extern "C" __attribute__((visibility("default")))

using namespace tutti;

TUTTI_ENTRY int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr) {
  return mpi::alloc_mem(size, info, baseptr);
}

TUTTI_ENTRY int MPI_Free_mem(void* base) { return mpi::free_mem(base); }

TUTTI_ENTRY int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                                 void* baseptr, MPI_Win* win) {
  return mpi::win_allocate(size, disp_unit, info, comm, baseptr, win);
}

TUTTI_ENTRY int MPI_Win_free(MPI_Win* win) { return mpi::win_free(win); }

TUTTI_ENTRY int MPI_Win_get_attr(MPI_Win win, int win_keyval, void* attribute_val, int* flag) {
  return mpi::win_get_attr(win, win_keyval, attribute_val, flag);
}

// Instead of those of libtutti.so, which a program that calls them is linked to: they are found
// first.
TUTTI_ENTRY void* tutti_alloc(size_t bytes) {
  if (void* const address = mpi::take_memory(bytes > 0 ? bytes : 1, 64)) return address;
  void* address = nullptr;
  return posix_memalign(&address, 64, bytes > 0 ? bytes : 1) == 0 ? address : nullptr;
}

TUTTI_ENTRY void tutti_free(void* memory) {
  if (!mpi::give_memory(memory)) free(memory);
}
