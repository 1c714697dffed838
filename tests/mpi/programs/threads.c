// Several threads, each with its own communicators; some of these are made and freed meanwhile.
#include <pthread.h>

#include "check.h"

enum { thread_count = 3 };
static int rounds;

static void* work(void* argument) {
  const MPI_Comm mine = *(MPI_Comm*)argument;
  for (int round = 0; round < rounds; ++round) {
    double in[20], out[20];
    const int count = 1 + round % 20;
    for (int i = 0; i < count; ++i) in[i] = world_rank + i;
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, mine);
    for (int i = 0; i < count; ++i)
      CHECK(out[i] == world_size * (world_size - 1) / 2 + i * world_size, "round %d, element %d",
            round, i);
    int data = world_rank == round % world_size ? round : -1;
    MPI_Bcast(&data, 1, MPI_INT, round % world_size, mine);
    CHECK(data == round, "bcast of round %d: %d", round, data);
    MPI_Barrier(mine);
    if (round % 100 == 0) {
      MPI_Comm brief;
      MPI_Comm_dup(mine, &brief);
      for (int i = 0; i < 6; ++i) MPI_Barrier(brief);
      MPI_Comm_free(&brief);
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  rounds = argc > 1 ? atoi(argv[1]) : 300;
  CHECK(provided == MPI_THREAD_MULTIPLE, "this MPI has no threads: %d", provided);
  MPI_Comm all[thread_count];
  pthread_t threads[thread_count];
  for (int i = 0; i < thread_count; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
  for (int i = 0; i < thread_count; ++i) pthread_create(&threads[i], NULL, work, &all[i]);
  for (int i = 0; i < thread_count; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < thread_count; ++i) MPI_Comm_free(&all[i]);
  return finish();
}
