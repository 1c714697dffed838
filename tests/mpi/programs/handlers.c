// Errors in programs that have set MPI_ERRORS_RETURN on MPI_COMM_WORLD only. Each run makes one
// kind of error and prints its class. Some hosts end the job at some of them; with Tutti they must
// do the same.
#include "check.h"

static MPI_Comm before;

static int datatype(void) {
  MPI_Datatype type;
  return MPI_Type_contiguous(-1, MPI_INT, &type);
}

static int group(void) {
  MPI_Group all, one;
  int rank = world_size;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  return MPI_Group_incl(all, 1, &rank, &one);
}

static int info(void) {
  MPI_Info made;
  MPI_Info_create(&made);
  return MPI_Info_delete(made, "a key that nobody has set");
}

static int reduce_local(void) {
  int a = 1, b = 2;
  return MPI_Reduce_local(&a, &b, -1, MPI_INT, MPI_SUM);
}

static int waitall(void) {
  int sent[2] = {1, 2}, received = 0;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Irecv(&received, 1, MPI_INT, world_rank, 7, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(sent, 2, MPI_INT, world_rank, 7, MPI_COMM_WORLD, &requests[1]);
  return MPI_Waitall(2, requests, statuses);
}

static int duplicate(void) { return MPI_Send(&world_rank, 1, MPI_INT, world_size, 0, before); }

static int self(void) { return MPI_Send(&world_rank, 1, MPI_INT, 1, 0, MPI_COMM_SELF); }

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    int (*make)(void);
  } kinds[] = {{"datatype", datatype}, {"group", group},
               {"info", info},         {"reduce_local", reduce_local},
               {"waitall", waitall},   {"duplicate", duplicate},
               {"self", self}};
  start(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &before);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  set_up(MPI_COMM_WORLD);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    if (strcmp(kinds[i].name, argv[1]) != 0) continue;
    int class = -1;
    MPI_Error_class(kinds[i].make(), &class);
    printf("class %d\n", class);
    fflush(stdout);
  }
  int sum = 0;
  MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == world_size * (world_size - 1) / 2, "allreduce after the error: %d", sum);
  MPI_Comm_free(&before);
  return finish();
}
