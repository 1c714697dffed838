// Jobs that spawn, with servers on both sides: one-sided transfers within each side, collectives of
// all processes, and none of the other side's memory.
// servers_spawn TUTTI_RUN PROGRAM KIND: PROGRAM is this program, KIND what servers are.
#include "check.h"
#include "tutti/mpi.h"

enum { numbers = 2000, spawned = 2 };

static void ok(tutti_status status) {
  CHECK(status == TUTTI_OK, "%d: %s", (int)status, tutti_error_message());
}

// Rank r puts numbers into the memory of the next rank of MPI_COMM_WORLD, whose rank in the group
// is `first` more.
static void exchange(tutti_group* group, int first, int rounds) {
  const int next = (world_rank + 1) % world_size,
            before = (world_rank + world_size - 1) % world_size;
  long mine[numbers];
  long* heap = tutti_alloc(numbers * sizeof(long));
  long** there = malloc((size_t)world_size * sizeof *there);
  MPI_Allgather(&heap, sizeof heap, MPI_BYTE, there, sizeof heap, MPI_BYTE, MPI_COMM_WORLD);
  for (int round = 0; round < rounds; ++round) {
    tutti_handle handle;
    for (int i = 0; i < numbers; ++i) mine[i] = 1000L * world_rank + 10L * round + i;
    MPI_Barrier(MPI_COMM_WORLD);
    ok(tutti_put(group, first + next, there[next], mine, sizeof mine, &handle));
    ok(tutti_wait(group, &handle));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < numbers; ++i)
      CHECK(heap[i] == 1000L * before + 10L * round + i, "round %d at %d: %ld", round, i, heap[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  free(there);
  tutti_free(heap);
}

static void use_merged(MPI_Comm inter, int high) {
  MPI_Comm merged;
  tutti_group* group;
  int rank = 0, size = 0;
  long value = 1;
  MPI_Intercomm_merge(inter, high, &merged);
  exercise(merged, 20, 500);
  MPI_Comm_rank(merged, &rank);
  MPI_Comm_size(merged, &size);
  ok(tutti_group_of_comm(merged, &group));
  const int first = rank - world_rank, other = first == 0 ? size - 1 : 0;
  exchange(group, first, 5);
  CHECK(tutti_put(group, other, &value, &value, sizeof value, NULL) == TUTTI_UNAVAILABLE,
        "a process of the other side was reached");
  tutti_group_free(group);
  MPI_Comm_free(&merged);
}

int main(int argc, char** argv) {
  MPI_Comm inter;
  tutti_group* group;
  start(&argc, &argv);
  MPI_Comm_get_parent(&inter);
  const int child = inter != MPI_COMM_NULL;
  ok(tutti_group_of_comm(MPI_COMM_WORLD, &group));
  CHECK(tutti_servers_count(tutti_node_team()) == 1, "%d servers",
        tutti_servers_count(tutti_node_team()));
  exchange(group, 0, 20);
  for (int round = 0; round < (child ? 1 : 2); ++round) {
    char* words[] = {"--servers", "1",   "--servers-as",       child ? "" : argv[3],
                     "--serve",   "all", child ? "" : argv[2], NULL};
    if (!child)
      MPI_Comm_spawn(argv[1], words, spawned, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                     MPI_ERRCODES_IGNORE);
    use_merged(inter, child);
    MPI_Comm_disconnect(&inter);
    exchange(group, 0, 20);
  }
  tutti_group_free(group);
  if (child) {
    MPI_Finalize();
    return 0;
  }
  return finish();
}
