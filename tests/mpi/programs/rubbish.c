// Programs whose ranks pass arguments to a collective that do not fit, each by one mistake of the
// last rank. Most of them end, with wrong data. With --verify they are told at the call.
//
//   rubbish CASE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

static int rank, ranks, last, wrong;  // wrong: this rank makes the mistake
static int in[64], out[64], counts[64], places[64];
static MPI_Comm world = MPI_COMM_WORLD;

static void root(void) { MPI_Bcast(in, 4, MPI_INT, wrong ? last : 0, world); }

static void count(void) { MPI_Bcast(in, wrong ? 2 : 4, MPI_INT, 0, world); }

static void op(void) { MPI_Allreduce(in, out, 4, MPI_INT, wrong ? MPI_MAX : MPI_SUM, world); }

static void type(void) { MPI_Allreduce(in, out, 4, wrong ? MPI_FLOAT : MPI_INT, MPI_SUM, world); }

static void function(void) {
  if (wrong)
    MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, world);
  else
    MPI_Reduce(in, out, 4, MPI_INT, MPI_SUM, 0, world);
}

static void gather_of_roots(void) {
  MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, wrong ? last : 0, world);
}

// Ends the program once the ranks have counted those that got an error.
static void count_the_told(int code) {
  int told = code != MPI_SUCCESS, all = 0;
  MPI_Allreduce(&told, &all, 1, MPI_INT, MPI_SUM, world);
  if (rank == 0) fprintf(stderr, "%d of %d ranks were told\n", all, ranks);
  // Not by MPI_Abort: the launcher may then end before it has read what the ranks have printed.
  MPI_Finalize();
  exit(rank == 0);
}

// The root expects another length than the last rank sends.
static void sum_of_parts(void) {
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  count_the_told(MPI_Gatherv(in, wrong ? 2 : 1, MPI_INT, out, counts, places, MPI_INT, 0, world));
}

static void parts_among_all(void) {
  int sent[64];
  memcpy(sent, counts, sizeof sent);
  if (wrong) sent[0] = 2;
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  count_the_told(MPI_Alltoallv(in, sent, places, MPI_INT, out, counts, places, MPI_INT, world));
}

static void parts_among_neighbours(void) {
  MPI_Comm ring;
  int periodic = 1;
  MPI_Cart_create(world, 1, &ranks, &periodic, 0, &ring);
  MPI_Neighbor_allgather(in, wrong ? 2 : 1, MPI_INT, out, 1, MPI_INT, ring);
}

static void nonblocking_parts(void) {
  MPI_Request request;
  MPI_Iscatterv(in, counts, places, MPI_INT, out, wrong ? 2 : 1, MPI_INT, 0, world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(world);
}

static void parts_of_reduce_scatter(void) {
  counts[0] = wrong ? 3 : 2;
  MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, world);
}

static void nonblocking_op(void) {
  MPI_Request request;
  MPI_Iallreduce(in, out, 4, MPI_INT, wrong ? MPI_MAX : MPI_SUM, world, &request);
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  count_the_told(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void tested_op(void) {
  MPI_Request requests[2];
  int done = 0, code = MPI_SUCCESS;
  MPI_Ibarrier(world, &requests[0]);
  MPI_Ireduce_scatter_block(in, out, 1, MPI_INT, wrong ? MPI_MAX : MPI_SUM, world, &requests[1]);
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  while (!done) code = MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
  count_the_told(code);
}

static void persistent_op(void) {
  MPI_Request request;
  MPI_Allreduce_init(in, out, 4, MPI_INT, wrong ? MPI_MAX : MPI_SUM, world, MPI_INFO_NULL,
                     &request);
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Start(&request);
  count_the_told(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void persistent_root(void) {
  MPI_Request request;
  MPI_Bcast_init(in, 4, MPI_INT, wrong ? last : 0, world, MPI_INFO_NULL, &request);
  MPI_Request_free(&request);
  MPI_Barrier(world);
}

static void between_groups(void) {
  MPI_Comm half, inter;
  MPI_Comm_split(world, rank == last, rank, &half);
  MPI_Intercomm_create(half, 0, world, rank == last ? 0 : last, 4, &inter);
  if (wrong)
    MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, inter);
  else
    MPI_Barrier(inter);
}

// Every form with arguments that fit, though they differ as MPI allows. No rank is wrong.
static void fits(void) {
  MPI_Datatype pair, ints[64];
  MPI_Request requests[5], kept, hosts = MPI_REQUEST_NULL;
  MPI_Comm ring;
  int periodic = 1, bytes[64];
  MPI_Cart_create(world, 1, &ranks, &periodic, 0, &ring);
  for (int i = 0; i < ranks; ++i) ints[i] = MPI_INT, bytes[i] = 4 * i;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Allreduce_init(in, out, 4, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &kept);
  MPI_Allreduce_init(in, out, 0, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &hosts);
  for (int i = 0; i < 4; ++i) {
    int done = 0, index = 0;
    MPI_Start(&kept);
    MPI_Start(&hosts);
    MPI_Waitany(1, &kept, &index, MPI_STATUS_IGNORE);
    while (!done) MPI_Test(&hosts, &done, MPI_STATUS_IGNORE);
    MPI_Bcast(in, rank == last ? 2 : 4, rank == last ? pair : MPI_INT, last, world);
    MPI_Gatherv(rank == 0 ? MPI_IN_PLACE : in, 1, MPI_INT, out, counts, places, MPI_INT, 0, world);
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : in, 2, MPI_INT, out, 1, pair, 0, world);
    MPI_Scatterv(in, counts, places, MPI_INT, out, 1, MPI_INT, 0, world);
    MPI_Scatter(in, 1, pair, rank == 0 ? MPI_IN_PLACE : out, 2, MPI_INT, 0, world);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, counts, places, MPI_INT, world);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1, MPI_INT, world);
    MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, world);
    MPI_Alltoallw(in, counts, bytes, ints, out, counts, bytes, ints, world);
    MPI_Neighbor_allgather(in, 2, MPI_INT, out, 1, pair, ring);
    MPI_Neighbor_alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, ring);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : in, out, 4, MPI_INT, MPI_SUM, 0, world);
    MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, world);
    MPI_Reduce_scatter_block(in, out, 2, MPI_INT, MPI_SUM, world);
    MPI_Scan(in, out, 2, MPI_INT, MPI_SUM, world);
    MPI_Iallreduce(in, out, 4, MPI_INT, MPI_SUM, world, &requests[0]);
    MPI_Ibcast(in + 8, 4, MPI_INT, 0, world, &requests[1]);
    MPI_Ibarrier(world, &requests[2]);
    MPI_Ialltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, world, &requests[3]);
    MPI_Ineighbor_alltoall(in + 8, 1, MPI_INT, out + 8, 1, MPI_INT, ring, &requests[4]);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&kept);
  MPI_Request_free(&hosts);
  MPI_Comm_free(&ring);
  MPI_Type_free(&pair);
}

#define CASE(name) {#name, name}
static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {
    CASE(root),
    CASE(count),
    CASE(op),
    CASE(type),
    CASE(function),
    CASE(gather_of_roots),
    CASE(sum_of_parts),
    CASE(parts_among_all),
    CASE(parts_among_neighbours),
    CASE(nonblocking_parts),
    CASE(parts_of_reduce_scatter),
    CASE(nonblocking_op),
    CASE(tested_op),
    CASE(persistent_op),
    CASE(persistent_root),
    CASE(between_groups),
    CASE(fits),
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &ranks);
  last = ranks - 1;
  wrong = rank == last;
  for (int i = 0; i < ranks; ++i) counts[i] = 1, places[i] = i;
  for (int round = 0; round < (argc > 2 ? atoi(argv[2]) : 0); ++round)
    MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, world);
  for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; ++i)
    if (strcmp(cases[i].name, argv[1]) == 0) cases[i].run();
  MPI_Finalize();
  return 0;
}
