// The functions that an interposer replaces in an MPI program under tutti-run (src/mpi): a
// preloaded library is searched before libtutti.so.
#include <stdlib.h>

#include "api/guard.h"
#include "shm/process_heap.h"
#include "tutti/tutti.h"

extern "C" {

// Threads reach all memory. The first team of processes makes the heap that processes reach.
void* tutti_alloc(size_t bytes) {
  const size_t wanted = bytes > 0 ? bytes : 1;
  void* memory = tutti::shm::take_memory(wanted, tutti::shm::usual_alignment);
  if (memory == nullptr && posix_memalign(&memory, tutti::shm::usual_alignment, wanted) != 0)
    return nullptr;
  return memory;
}

void tutti_free(void* memory) {
  if (!tutti::shm::give_memory(memory)) free(memory);
}

tutti_status tutti_group_of_communicator(uint64_t, tutti_group**) {
  return tutti::api::report(tutti::Code::unavailable,
                            "groups of MPI processes need tutti-run: mpiexec ... tutti-run ./app");
}

tutti_team* tutti_node_team(void) { return nullptr; }

}  // extern "C"
