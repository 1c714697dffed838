// For traces: every collective in three sizes, on the world and on halves of it, with checked
// results; and threads with their own communicators, if the MPI allows threads.
#include <pthread.h>
#include <stdint.h>

#include "check.h"

enum { rounds = 20, longest = 40000 };

static void collectives(MPI_Comm communicator, int count) {
  int rank, size;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  int64_t* const in = malloc(sizeof(int64_t) * (size_t)count);
  int64_t* const out = malloc(sizeof(int64_t) * (size_t)count);
  for (int round = 0; round < rounds; ++round) {
    const int root = round % size;
    for (int i = 0; i < count; ++i) in[i] = rank + i + round;
    MPI_Allreduce(in, out, count, MPI_INT64_T, MPI_SUM, communicator);
    const int64_t ranks = (int64_t)size * (size - 1) / 2;
    for (int i = 0; i < count; ++i)
      CHECK(out[i] == ranks + (int64_t)size * (i + round), "allreduce, element %d", i);
    memset(out, 0, sizeof(int64_t) * (size_t)count);
    MPI_Reduce(in, out, count, MPI_INT64_T, MPI_MAX, root, communicator);
    for (int i = 0; i < count && rank == root; ++i)
      CHECK(out[i] == size - 1 + i + round, "reduce, element %d", i);
    MPI_Bcast(in, count, MPI_INT64_T, root, communicator);
    for (int i = 0; i < count; ++i) CHECK(in[i] == root + i + round, "bcast, element %d", i);
    MPI_Barrier(communicator);
  }
  free(in);
  free(out);
}

static void* in_a_thread(void* communicator) {
  collectives(*(MPI_Comm*)communicator, 3);
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  for (int count = 1; count <= longest; count *= 200) collectives(MPI_COMM_WORLD, count);
  MPI_Comm half, one, other;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &half);
  collectives(half, 5);
  MPI_Comm_free(&half);
  if (provided == MPI_THREAD_MULTIPLE) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, world_rank, &one);
    MPI_Comm_split(MPI_COMM_WORLD, 0, world_rank, &other);
    pthread_t thread;
    pthread_create(&thread, NULL, in_a_thread, &other);
    collectives(one, 4);
    pthread_join(thread, NULL);
    MPI_Comm_free(&one);
    MPI_Comm_free(&other);
  }
  return finish();
}
