// Every blocking collective on the world, at six sizes, each with its results checked. After the
// messages of at most 2 KiB, and at the end, rank 0 prints what the job holds: the private memory
// of a rank (anonymous pages), the largest and the mean, and the shared memory of the node, in KiB;
// and the seconds of the calls so far.
#include <stdint.h>

#include "check.h"

static int ranks, rank;
static uint32_t *in, *out;
static int *counts, *places, *send_counts, *send_places;
static MPI_Datatype* types;

// Element i of what `from` has for `to`.
static uint32_t value(int from, int to, int i) { return from * 7919u + to * 104729u + i; }

// How many elements of `ints` v-collectives have between two ranks.
static int uneven(int ints, int a, int b) { return ints + (a + b) % 3 - 1; }

static void fill(int place, int count, int to) {
  for (int i = 0; i < count; ++i) in[place + i] = value(rank, to, i);
}

static void expect(const char* name, int place, int count, int from, int to) {
  for (int i = 0; i < count; ++i)
    CHECK(out[place + i] == value(from, to, i), "%s: element %d of %d from rank %d is %u", name, i,
          count, from, out[place + i]);
}

static void clear(int count) {
  for (int i = 0; i < count; ++i) out[i] = 0xdeadbeef;
}

// The sum of what ranks low .. high - 1 have for `to`.
static uint32_t sum(int low, int high, int to, int i) {
  uint32_t all = 0;
  for (int from = low; from < high; ++from) all += value(from, to, i);
  return all;
}

static void expect_sum(const char* name, int count, int low, int high, int to) {
  for (int i = 0; i < count; ++i)
    CHECK(out[i] == sum(low, high, to, i), "%s: element %d of %d is %u", name, i, count, out[i]);
}

static void try_vectors(int ints, int root) {
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < ints; ++i) out[i] = rank == root ? value(root, 0, i) : 0;
  MPI_Bcast(out, ints, MPI_UINT32_T, root, MPI_COMM_WORLD);
  expect("bcast", 0, ints, root, 0);
  fill(0, ints, 0);
  clear(ints);
  MPI_Reduce(in, out, ints, MPI_UINT32_T, MPI_SUM, root, MPI_COMM_WORLD);
  if (rank == root) expect_sum("reduce", ints, 0, ranks, 0);
  clear(ints);
  MPI_Allreduce(in, out, ints, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
  expect_sum("allreduce", ints, 0, ranks, 0);
  clear(ints);
  MPI_Scan(in, out, ints, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
  expect_sum("scan", ints, 0, rank + 1, 0);
  clear(ints);
  MPI_Exscan(in, out, ints, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
  if (rank > 0) expect_sum("exscan", ints, 0, rank, 0);
}

static void expect_parts(const char* name, int ints) {
  for (int from = 0; from < ranks; ++from) expect(name, from * ints, ints, from, rank);
}

static void try_equal_parts(int ints, int root) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const MPI_Datatype type = MPI_UINT32_T;
  fill(0, ints, root);
  clear(ranks * ints);
  MPI_Gather(in, ints, type, out, ints, type, root, world);
  if (rank == root) expect_parts("gather", ints);
  fill(0, ints, 0);
  clear(ranks * ints);
  MPI_Allgather(in, ints, type, out, ints, type, world);
  for (int from = 0; from < ranks; ++from) expect("allgather", from * ints, ints, from, 0);
  for (int to = 0; to < ranks; ++to) fill(to * ints, ints, to);
  clear(ranks * ints);
  MPI_Scatter(in, ints, type, out, ints, type, root, world);
  expect("scatter", 0, ints, root, rank);
  MPI_Alltoall(in, ints, type, out, ints, type, world);
  expect_parts("alltoall", ints);
  clear(ints);
  MPI_Reduce_scatter_block(in, out, ints, type, MPI_SUM, world);
  expect_sum("reduce_scatter_block", ints, 0, ranks, rank);
}

// Sets the counts and places of parts: part k has uneven(ints, k, with) elements. Returns where
// they end.
static int lay_out(int ints, int with) {
  int end = 0;
  for (int k = 0; k < ranks; ++k) {
    places[k] = send_places[k] = end;
    counts[k] = send_counts[k] = uneven(ints, k, with);
    end += counts[k];
  }
  return end;
}

static void try_uneven_parts(int ints, int root) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const MPI_Datatype type = MPI_UINT32_T;
  int end = lay_out(ints, 0);
  fill(0, counts[rank], root);
  clear(end);
  MPI_Gatherv(in, counts[rank], type, out, counts, places, type, root, world);
  for (int from = 0; from < ranks && rank == root; ++from)
    expect("gatherv", places[from], counts[from], from, root);
  clear(end);
  MPI_Allgatherv(in, counts[rank], type, out, counts, places, type, world);
  for (int from = 0; from < ranks; ++from)
    expect("allgatherv", places[from], counts[from], from, root);
  for (int to = 0; to < ranks; ++to) fill(places[to], counts[to], to);
  clear(end);
  MPI_Scatterv(in, counts, places, type, out, counts[rank], type, root, world);
  expect("scatterv", 0, counts[rank], root, rank);
  clear(end);
  MPI_Reduce_scatter(in, out, counts, type, MPI_SUM, world);
  expect_sum("reduce_scatter", counts[rank], 0, ranks, rank);
  end = lay_out(ints, rank);
  for (int to = 0; to < ranks; ++to) fill(places[to], counts[to], to);
  clear(end);
  MPI_Alltoallv(in, send_counts, send_places, type, out, counts, places, type, world);
  for (int from = 0; from < ranks; ++from)
    expect("alltoallv", places[from], counts[from], from, rank);
  clear(end);
  for (int k = 0; k < ranks; ++k) {
    types[k] = type;
    places[k] *= (int)sizeof *in;
    send_places[k] *= (int)sizeof *in;
  }
  MPI_Alltoallw(in, send_counts, send_places, types, out, counts, places, types, world);
  for (int from = 0; from < ranks; ++from)
    expect("alltoallw", places[from] / (int)sizeof *in, counts[from], from, rank);
}

// A row of /proc/self/smaps_rollup, in KiB.
static long memory(const char* row) {
  FILE* const file = fopen("/proc/self/smaps_rollup", "r");
  CHECK(file != NULL, "no smaps_rollup");
  char line[256];
  long kibibytes = -1;
  while (fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, row, strlen(row)) == 0) kibibytes = atol(line + strlen(row));
  fclose(file);
  CHECK(kibibytes >= 0, "no row %s", row);
  return kibibytes;
}

static void tell(const char* which, double seconds) {
  long own[] = {memory("Pss_Anon:"), memory("Pss_Shmem:")}, all[2] = {0, 0}, most = 0;
  MPI_Reduce(own, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(own, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%s private_most %ld private_mean %ld shared %ld seconds %.2f\n", which, most,
           all[0] / ranks, all[1], seconds);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  ranks = world_size, rank = world_rank;
  enum { rounds = 6, short_rounds = 1 };
  static const int vectors[rounds] = {2, 64, 512, 4096, 16384, 65536},
                   parts[rounds] = {2, 16, 128, 256, 512, 1024};
  const size_t of_parts = (size_t)ranks * (parts[rounds - 1] + 2);
  const size_t most = of_parts > (size_t)vectors[rounds - 1] ? of_parts : vectors[rounds - 1];
  in = malloc(most * sizeof *in);
  out = malloc(most * sizeof *out);
  counts = malloc(ranks * sizeof *counts);
  places = malloc(ranks * sizeof *places);
  send_counts = malloc(ranks * sizeof *send_counts);
  send_places = malloc(ranks * sizeof *send_places);
  types = malloc(ranks * sizeof(MPI_Datatype));
  const double begin = MPI_Wtime();
  for (int round = 0; round < rounds; ++round) {
    try_vectors(vectors[round], ranks / 2);
    try_equal_parts(parts[round], ranks - 1);
    try_uneven_parts(parts[round], 1);
    if (round + 1 == short_rounds) tell("short", MPI_Wtime() - begin);
  }
  tell("all", MPI_Wtime() - begin);
  free(in);
  free(out);
  free(counts);
  free(places);
  free(send_counts);
  free(send_places);
  free(types);
  return finish();
}
