// Each rank puts COUNT blocks of BYTES bytes into its own memory and waits for all of them, five
// times. Who executes them is in the report.
#include "check.h"
#include "tutti/mpi.h"

enum { phases = 5, most = 256 };

static void ok(tutti_status status) {
  CHECK(status == TUTTI_OK, "%d: %s", (int)status, tutti_error_message());
}

int main(int argc, char** argv) {
  const size_t bytes = (size_t)atoi(argv[1]);
  const int count = atoi(argv[2]);
  tutti_group* group;
  static tutti_handle handles[most];
  start(&argc, &argv);
  ok(tutti_group_of_comm(MPI_COMM_WORLD, &group));
  char* const from = tutti_alloc(bytes * (size_t)count);
  char* const to = tutti_alloc(bytes * (size_t)count);
  for (int phase = 0; phase < phases; ++phase) {
    memset(from, phase + 1, bytes * (size_t)count);
    for (int i = 0; i < count; ++i)
      ok(tutti_put(group, world_rank, to + (size_t)i * bytes, from + (size_t)i * bytes, bytes,
                   &handles[i]));
    for (int i = 0; i < count; ++i) ok(tutti_wait(group, &handles[i]));
    CHECK(memcmp(from, to, bytes * (size_t)count) == 0, "phase %d", phase);
  }
  tutti_free(from);
  tutti_free(to);
  tutti_group_free(group);
  return finish();
}
