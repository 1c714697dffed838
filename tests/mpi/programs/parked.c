// Short-lived communicators, made again and again of the same ranks: in different orders, freed in
// different orders at each rank, some while others of the same ranks are in use; and in two threads
// at once, if the host supports threads.
#include <pthread.h>

#include "check.h"

static MPI_Comm split_off(MPI_Comm from, int kind) {
  MPI_Comm made;
  int rank;
  MPI_Comm_rank(from, &rank);
  const int color = kind % 3 == 2 ? rank / 2 : 0;
  MPI_Comm_split(from, color, kind % 3 == 1 ? -rank : rank, &made);
  return made;
}

// Communicators make different numbers of calls, so that some are set up and some are not.
static void one_by_one(void) {
  for (int i = 0; i < 150; ++i) {
    MPI_Comm brief = split_off(MPI_COMM_WORLD, i % 7);
    exercise(brief, i % 8, 1 + i % 600);
    MPI_Comm_free(&brief);
  }
}

// Rank 0 frees the last one first; other ranks free the first one first.
static void several_at_once(void) {
  enum { many = 5 };
  for (int round = 0; round < 20; ++round) {
    MPI_Comm all[many];
    for (int i = 0; i < many; ++i) all[i] = split_off(MPI_COMM_WORLD, round);
    for (int k = 0; k < 6; ++k)
      for (int i = 0; i < many; ++i) exercise(all[(i * 2 + k) % many], 1, 40);
    for (int i = 0; i < many; ++i) MPI_Comm_free(&all[world_rank == 0 ? many - 1 - i : i]);
  }
}

// A communicator is in use before the previous one ends; ranks free that one at different times.
static void overlapping(void) {
  MPI_Comm last = split_off(MPI_COMM_WORLD, 0);
  exercise(last, 6, 3);
  for (int i = 0; i < 40; ++i) {
    MPI_Comm next = split_off(MPI_COMM_WORLD, 0);
    if (world_rank % 2 == 0) MPI_Comm_free(&last);
    exercise(next, 6, 3 + i);
    if (world_rank % 2 != 0) MPI_Comm_free(&last);
    last = next;
  }
  MPI_Comm_free(&last);
}

static void* of_one_thread(void* parent) {
  MPI_Comm from = *(MPI_Comm*)parent;
  for (int i = 0; i < 60; ++i) {
    MPI_Comm brief;
    MPI_Comm_dup(from, &brief);
    exercise(brief, 1 + i % 8, 9);
    MPI_Comm_free(&brief);
  }
  return NULL;
}

static void in_threads(void) {
  enum { threads = 2 };
  MPI_Comm parents[threads];
  pthread_t ids[threads];
  for (int i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]);
  for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, of_one_thread, &parents[i]);
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  for (int i = 0; i < threads; ++i) MPI_Comm_free(&parents[i]);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  one_by_one();
  several_at_once();
  overlapping();
  if (provided == MPI_THREAD_MULTIPLE) in_threads();
  one_by_one();
  return finish();
}
