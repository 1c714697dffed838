// The functions that an interposer replaces in an MPI program under tutti-run (src/mpi): a
// preloaded library is searched before libtutti.so.
#include <stdlib.h>

#include "api/guard.h"
#include "tutti/tutti.h"

extern "C" {

void* tutti_alloc(size_t bytes) {
  void* memory = nullptr;
  const int error = posix_memalign(&memory, 64, bytes > 0 ? bytes : 1);
  return error == 0 ? memory : nullptr;
}

void tutti_free(void* memory) { free(memory); }

tutti_status tutti_group_of_communicator(uint64_t, tutti_group**) {
  return tutti::api::report(tutti::Code::unavailable,
                            "groups of MPI processes need tutti-run: mpiexec ... tutti-run ./app");
}

tutti_team* tutti_node_team(void) { return nullptr; }

}  // extern "C"
