// Spawned processes: parents and children merged into one communicator.
// spawn LAUNCHER PROGRAM CHILDREN: LAUNCHER is tutti-run or a dash, PROGRAM this program.
#include "check.h"

static int parents, children;

static void use(MPI_Comm communicator, int rounds) { exercise(communicator, rounds, 1000); }

static MPI_Comm spawn(char** arguments) {
  MPI_Comm inter;
  char* own[] = {arguments[2], arguments[1], arguments[2], arguments[3], NULL};
  const int launched = strcmp(arguments[1], "-") != 0;
  MPI_Comm_spawn(launched ? arguments[1] : arguments[2], launched ? own : own + 1,
                 atoi(arguments[3]), MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
  return inter;
}

// Uses the merged communicator, its parts and copies; one of them outlives it.
static void use_merged(MPI_Comm inter, int high) {
  MPI_Comm merged, mixed, copy, world_again;
  int rank;
  MPI_Intercomm_merge(inter, high, &merged);
  MPI_Comm_rank(merged, &rank);
  MPI_Comm_dup(merged, &copy);
  use(merged, 30);
  MPI_Comm_split(merged, rank % 2, rank, &mixed);
  use(mixed, 20);
  use(copy, 20);
  MPI_Comm_free(&merged);
  MPI_Comm_split(copy, high, rank, &world_again);
  use(world_again, 20);
  use(MPI_COMM_WORLD, 20);
  use(mixed, 5);
  MPI_Comm_free(&world_again);
  MPI_Comm_free(&copy);
  use(mixed, 5);
  MPI_Comm_free(&mixed);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm inter;
  MPI_Comm_get_parent(&inter);
  const int child = inter != MPI_COMM_NULL;
  if (!child) CHECK(argc > 3, "arguments");
  use(MPI_COMM_WORLD, 5);
  for (int round = 0; round < (child ? 1 : 2); ++round) {
    if (!child) inter = spawn(argv);
    MPI_Comm_remote_size(inter, child ? &parents : &children);
    use_merged(inter, child);
    MPI_Comm_disconnect(&inter);
    use(MPI_COMM_WORLD, 5);
  }
  if (child) {
    MPI_Finalize();
    return 0;
  }
  return finish();
}
