// One-sided transfers between nodes by several threads of each rank, each with a group of its own.
// Arguments: the threads of a rank, and the rounds of each.
#include <pthread.h>

#include "check.h"
#include "tutti/mpi.h"

enum { batch = 32, most_bytes = 4096, most_threads = 16 };

static int rank, ranks, rounds;
static tutti_group* groups[most_threads];
static unsigned char* area;  // for each thread of the partner's: `batch` messages
static unsigned char* remote;
static int partner;

static void ok(tutti_status status) {
  CHECK(status == TUTTI_OK, "%d: %s", (int)status, tutti_error_message());
}

static unsigned char byte_of(int thread, int round, size_t at) {
  return (unsigned char)(at * 7 + (size_t)(thread * 31 + round));
}

// Puts messages of one length to the partner, and gets them again: from and to memory of the heap
// in even rounds, and other memory in odd ones.
static void* work(void* number) {
  const int thread = (int)(size_t)number;
  tutti_group* const group = groups[thread];
  unsigned char* const there = remote + (size_t)thread * batch * most_bytes;
  unsigned char* const heap = tutti_alloc((size_t)batch * most_bytes);
  unsigned char* const other = malloc((size_t)batch * most_bytes);
  for (int round = 0; round < rounds; ++round) {
    const size_t lengths[] = {8, 100, 1024, most_bytes}, bytes = lengths[round % 4];
    unsigned char* const here = round / 4 % 2 == 0 ? heap : other;
    tutti_handle handles[batch];
    for (size_t i = 0; i < batch * bytes; ++i) here[i] = byte_of(thread, round, i);
    for (size_t i = 0; i < batch; ++i)
      ok(tutti_put(group, partner, there + i * bytes, here + i * bytes, bytes, &handles[i]));
    for (size_t i = 0; i < batch; ++i) ok(tutti_wait(group, &handles[i]));
    memset(here, 0, batch * bytes);
    for (size_t i = 0; i < batch; ++i)
      ok(tutti_get(group, partner, here + i * bytes, there + i * bytes, bytes, NULL));
    ok(tutti_wait_all(group));
    for (size_t i = 0; i < batch * bytes; ++i)
      CHECK(here[i] == byte_of(thread, round, i), "round %d, byte %zu", round, i);
  }
  tutti_free(heap);
  free(other);
  return NULL;
}

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int threads = argc > 1 ? atoi(argv[1]) : 1;
  rounds = argc > 2 ? atoi(argv[2]) : 8;
  CHECK(level == MPI_THREAD_MULTIPLE && threads <= most_threads, "%d", level);
  partner = (rank + ranks / 2) % ranks;  // on the other node
  for (int thread = 0; thread < threads; ++thread)
    ok(tutti_group_of_comm(MPI_COMM_WORLD, &groups[thread]));
  area = tutti_alloc((size_t)threads * batch * most_bytes);
  unsigned char** all = malloc((size_t)ranks * sizeof *all);
  MPI_Allgather(&area, sizeof area, MPI_BYTE, all, sizeof area, MPI_BYTE, MPI_COMM_WORLD);
  remote = all[partner];
  pthread_t workers[most_threads];
  for (int thread = 1; thread < threads; ++thread)
    pthread_create(&workers[thread], NULL, work, (void*)(size_t)thread);
  work(NULL);
  for (int thread = 1; thread < threads; ++thread) pthread_join(workers[thread], NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int thread = 0; thread < threads; ++thread) tutti_group_free(groups[thread]);
  free(all);
  if (rank == 0) printf("ok\n");
  MPI_Finalize();
  return 0;
}
