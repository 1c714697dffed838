// Alltoalls whose parts servers exchange: with parts of one length and of different ones, in place,
// non-blocking ones that are under way at once, and on parts of MPI_COMM_WORLD. Argument: the most
// elements of a part; "late": the last rank comes to a call late.
#include "check.h"

enum { under_way = 5, rounds = 3 };

static long value(int from, int to, long at, int round) {
  return ((long)from * 64 + to) * 1000000 + at * 8 + round;
}
// Elements from one rank to another.
static int length(int from, int to, int most, int round) {
  return (from * 7 + to * 5 + round * 3) % 4 == 0 ? 0 : 1 + (from * 31 + to * 17 + round) % most;
}

struct sides {
  long *in, *out;
  int *in_counts, *out_counts, *in_at, *out_at;
  MPI_Request request;
};

static struct sides sides_of(MPI_Comm comm, int most, int round, int alike) {
  int rank, size, in = 0, out = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  struct sides made;
  int* const all = malloc(4 * (size_t)size * sizeof(int));
  made.in_counts = all, made.out_counts = all + size;
  made.in_at = all + 2 * size, made.out_at = all + 3 * size;
  for (int other = 0; other < size; ++other) {
    made.in_counts[other] = alike ? most : length(rank, other, most, round);
    made.out_counts[other] = alike ? most : length(other, rank, most, round);
    made.in_at[other] = in, in += made.in_counts[other] + !alike;
    made.out_at[other] = out, out += made.out_counts[other] + !alike;
  }
  made.in = malloc(((size_t)in + 1) * sizeof(long));
  made.out = malloc(((size_t)out + 1) * sizeof(long));
  memset(made.out, -1, ((size_t)out + 1) * sizeof(long));
  for (int other = 0; other < size; ++other)
    for (int i = 0; i < made.in_counts[other]; ++i)
      made.in[made.in_at[other] + i] = value(rank, other, i, round);
  return made;
}
static void check_and_free(MPI_Comm comm, struct sides* done, int round) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int other = 0; other < size; ++other)
    for (int i = 0; i < done->out_counts[other]; ++i) {
      const long got = done->out[done->out_at[other] + i];
      CHECK(got == value(other, rank, i, round), "round %d: from rank %d at %d: %ld", round, other,
            i, got);
    }
  free(done->in);
  free(done->out);
  free(done->in_counts);
}

static void all_forms(MPI_Comm comm, int most, int round) {
  struct sides one = sides_of(comm, most, round, 1);
  MPI_Alltoall(one.in, most, MPI_LONG, one.out, most, MPI_LONG, comm);
  check_and_free(comm, &one, round);
  one = sides_of(comm, most, round, 0);
  MPI_Alltoallv(one.in, one.in_counts, one.in_at, MPI_LONG, one.out, one.out_counts, one.out_at,
                MPI_LONG, comm);
  check_and_free(comm, &one, round);
  int size;
  MPI_Comm_size(comm, &size);
  one = sides_of(comm, most, round, 0);
  MPI_Datatype* const types = malloc((size_t)size * sizeof *types);
  for (int other = 0; other < size; ++other) {
    types[other] = MPI_LONG;
    one.in_at[other] *= (int)sizeof(long);
    one.out_at[other] *= (int)sizeof(long);
  }
  MPI_Alltoallw(one.in, one.in_counts, one.in_at, types, one.out, one.out_counts, one.out_at, types,
                comm);
  for (int other = 0; other < size; ++other) one.out_at[other] /= (int)sizeof(long);
  free(types);
  check_and_free(comm, &one, round);
  one = sides_of(comm, most, round, 1);
  memcpy(one.out, one.in, (size_t)(size * most) * sizeof(long));
  MPI_Alltoall(MPI_IN_PLACE, most, MPI_LONG, one.out, most, MPI_LONG, comm);
  check_and_free(comm, &one, round);
}

// Some under way at once, which ranks complete in orders of their own.
static void non_blocking(MPI_Comm comm, int most) {
  struct sides all[under_way];
  int rank;
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i < under_way; ++i) {
    struct sides* const one = &all[i];
    *one = sides_of(comm, most, i, i % 2);
    if (i % 2)
      MPI_Ialltoall(one->in, most, MPI_LONG, one->out, most, MPI_LONG, comm, &one->request);
    else
      MPI_Ialltoallv(one->in, one->in_counts, one->in_at, MPI_LONG, one->out, one->out_counts,
                     one->out_at, MPI_LONG, comm, &one->request);
  }
  all_forms(comm, most, 1);  // beside them
  for (int i = 0; i < under_way; ++i) {
    const int nth = (rank * 2 + i * 3) % under_way;
    MPI_Wait(&all[nth].request, MPI_STATUS_IGNORE);
    check_and_free(comm, &all[nth], nth);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  if (strcmp(argv[1], "late") == 0) {
    if (world_rank == world_size - 1) sleep(3);
    all_forms(MPI_COMM_WORLD, 10, 0);
    return finish();
  }
  const int most = atoi(argv[1]);
  for (int round = 0; round < rounds; ++round) {
    all_forms(MPI_COMM_WORLD, most, round);
    non_blocking(MPI_COMM_WORLD, most);
  }
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank > 0, -world_rank, &part);
  set_up(part);
  all_forms(part, most, 2);
  // A communicator may be freed while operations are under way.
  struct sides last = sides_of(part, most, 0, 1);
  MPI_Ialltoall(last.in, most, MPI_LONG, last.out, most, MPI_LONG, part, &last.request);
  MPI_Comm copy;
  MPI_Comm_dup(part, &copy);
  MPI_Comm_free(&part);
  MPI_Wait(&last.request, MPI_STATUS_IGNORE);
  check_and_free(copy, &last, 0);
  MPI_Comm_free(&copy);
  return finish();
}
