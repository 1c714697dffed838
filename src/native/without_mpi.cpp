// What an interposer replaces in an MPI program under tutti-run (src/mpi): a preloaded library is
// searched before libtutti.so.
#include <stdlib.h>

#include "tutti/tutti.h"

extern "C" {

void* tutti_alloc(size_t bytes) {
  void* memory = nullptr;
  const int error = posix_memalign(&memory, 64, bytes > 0 ? bytes : 1);
  return error == 0 ? memory : nullptr;
}

void tutti_free(void* memory) { free(memory); }

}  // extern "C"
