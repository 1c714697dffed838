// A call on a communicator that was freed is an error of that call and ends the program.
#include "check.h"

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 0;
  MPI_Comm copy, freed;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int i = 0; i < calls; ++i) MPI_Barrier(copy);
  freed = copy;
  MPI_Comm_free(&copy);
  MPI_Barrier(freed);
  return finish();
}
