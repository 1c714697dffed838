// Programs that hang, each by one mistake of one rank or of some. The line at which the roll call
// must find these ranks is marked by a comment with the name of the case.
//
//   hangs CASE [LAUNCHER]
//
// LAUNCHER is tutti-run, for cases that spawn processes.
//
// Before the mistake all ranks make three collectives, so that Tutti serves the communicator. A
// case ends by the alarm, if the launcher does not end it.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mpi.h>

static int rank, ranks, last;  // the last rank makes the mistakes
static int in[64], out[64];
static int large[4 << 20];  // longer than the rings of slots, which have up to 4 MiB
static MPI_Comm world, first, second;
static char *program, *launcher;  // for cases that spawn

static void skipped_barrier(void) {
  if (rank != last) MPI_Barrier(world);
  MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, world);  // mark skipped_barrier
  MPI_Barrier(world);
}

static void extra_bcast(void) {
  if (rank == last) MPI_Bcast(in, 4, MPI_INT, 0, world);  // mark extra_bcast
  MPI_Barrier(world);
}

static void bcast_against_allreduce(void) {
  if (rank == last)
    MPI_Bcast(in, 4, MPI_INT, 0, world);  // mark bcast_against_allreduce
  else
    MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, world);
}

static void order_of_communicators(void) {
  if (rank == last) {
    MPI_Barrier(second);  // mark order_of_communicators
    MPI_Barrier(first);
  } else {
    MPI_Barrier(first);
    MPI_Barrier(second);
  }
}

static void other_root(void) {
  int root = rank == last ? last : 0;
  MPI_Bcast(large, 4 << 20, MPI_INT, root, world);  // mark other_root
  MPI_Barrier(world);
}

static void other_count(void) {
  int count = rank == last ? 8 : 4;
  MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, world);  // mark other_count
}

static void other_type(void) {
  MPI_Datatype type = rank == last ? MPI_DOUBLE : MPI_INT;
  MPI_Allreduce(in, out, 4, type, MPI_SUM, world);  // mark other_type
}

static void add(void* from, void* to, int* count, MPI_Datatype* type) {
  (void)from, (void)to, (void)count, (void)type;
}

// Rank 0 never comes, and the last rank gives another type with as many bytes.
static void types_in_allreduce(void) {
  if (rank == 0) sleep(1000);
  MPI_Allreduce(in, out, 4, rank == last ? MPI_FLOAT : MPI_INT, MPI_SUM, world);
}
static void types_in_scan(void) {
  if (rank == 0) sleep(1000);
  MPI_Scan(in, out, 4, rank == last ? MPI_FLOAT : MPI_INT, MPI_MAX, world);
}
static void types_in_own_operation(void) {
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  if (rank == 0) sleep(1000);
  MPI_Allreduce(in, out, 4, rank == last ? MPI_FLOAT : MPI_INT, op, world);
}

static void allreduce_against_reduce(void) {
  if (rank == last)
    MPI_Reduce(in, out, 4, MPI_INT, MPI_SUM, 0, world);
  else
    MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, world);
  MPI_Barrier(world);  // mark allreduce_against_reduce
}

static void blocking_against_nonblocking(void) {
  MPI_Request request;
  if (rank == last) {
    MPI_Ibarrier(world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);  // mark blocking_against_nonblocking
  } else {
    MPI_Barrier(world);
  }
}

static void missing_wait(void) {
  MPI_Request request;
  MPI_Iallreduce(in, out, 4, MPI_INT, MPI_SUM, world, &request);
  if (rank == last) {
    MPI_Recv(in, 1, MPI_INT, 0, 7, world, MPI_STATUS_IGNORE);  // mark missing_wait
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(world);
  }
}

static void receive_without_sender(void) {
  MPI_Request request;
  if (rank == last) {
    MPI_Irecv(in, 1, MPI_INT, 0, 7, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);  // mark receive_without_sender
  }
  MPI_Barrier(world);
}

static void wrong_tag(void) {
  if (rank == 0) MPI_Send(in, 1, MPI_INT, last, 1, world);
  if (rank == last) MPI_Recv(in, 1, MPI_INT, 0, 2, world, MPI_STATUS_IGNORE);  // mark wrong_tag
  MPI_Barrier(world);
}

static void wrong_peer(void) {
  if (rank == 0) MPI_Send(in, 1, MPI_INT, last, 1, world);
  if (rank == last) MPI_Recv(in, 1, MPI_INT, 1, 1, world, MPI_STATUS_IGNORE);  // mark wrong_peer
  MPI_Barrier(world);
}

static void broken_ring(void) {
  int right = (rank + 1) % ranks, left = (rank + last) % ranks;
  if (rank == last) {
    MPI_Recv(in, 1, MPI_INT, left, 9, world, MPI_STATUS_IGNORE);  // mark broken_ring
    return;
  }
  MPI_Sendrecv(in, 1, MPI_INT, right, 3, out, 1, MPI_INT, left, 3, world, MPI_STATUS_IGNORE);
  MPI_Barrier(world);
}

static void killed(void) {
  if (rank == last) raise(SIGKILL);
  MPI_Barrier(world);
}

static void exits(void) {
  if (rank == last) exit(0);  // mark exits
  MPI_Barrier(world);
}

static void aborts(void) {
  if (rank == last) abort();
  MPI_Barrier(world);
}

static void stopped(void) {
  if (rank == last) raise(SIGSTOP);
  MPI_Barrier(world);
}

static void endless_loop(void) {
  volatile int goes_on = rank == last;
  while (goes_on) in[1] += 1;  // mark endless_loop
  MPI_Barrier(world);
}

static void reads_fifo(void) {
  char name[64];
  snprintf(name, sizeof name, "/tmp/hangs-%d", (int)getpid());
  if (rank == last) {
    mkfifo(name, 0600);
    int file = open(name, O_RDWR);
    unlink(name);
    if (read(file, in, 1) < 0) abort();  // mark reads_fifo
  }
  MPI_Barrier(world);
}

static void sleeps(void) {
  if (rank == last) sleep(1000);  // mark sleeps
  MPI_Barrier(world);
}

static void early_finalize(void) {
  if (rank == last) {
    MPI_Finalize();  // mark early_finalize
    exit(0);
  }
  MPI_Barrier(world);
}

// The side that should send believes that it receives nothing.
static void intercommunicator(void) {
  MPI_Comm half, inter;
  MPI_Comm_split(world, rank == last, rank, &half);
  MPI_Intercomm_create(half, 0, world, rank == last ? 0 : last, 4, &inter);
  int root = rank == last ? 0 : MPI_PROC_NULL;
  MPI_Bcast(in, 4, MPI_INT, root, inter);  // mark intercommunicator
  MPI_Barrier(world);
}

static void session(void) {
  MPI_Session its;
  MPI_Group group;
  MPI_Comm all;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &its);
  MPI_Group_from_session_pset(its, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "hangs", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &all);
  if (rank == last) MPI_Barrier(all);  // mark session
  MPI_Barrier(world);
}

static void missing_fence(void) {
  MPI_Win window;
  MPI_Win_create(in, sizeof in, 4, MPI_INFO_NULL, world, &window);
  MPI_Win_fence(0, window);
  if (rank != last) MPI_Win_fence(0, window);
  MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, world);  // mark missing_fence
}

// The last rank names rank 0 as a neighbour, which does not name it.
static void neighbour_not_mutual(void) {
  MPI_Comm graph;
  int source = rank == last ? 0 : rank, weight = 1;
  MPI_Dist_graph_create_adjacent(world, 1, &source, &weight, 1, &rank, &weight, MPI_INFO_NULL, 0,
                                 &graph);
  MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, graph);  // mark neighbour_not_mutual
  MPI_Barrier(world);
}

static void* reduce_in_thread(void* unused) {
  (void)unused;
  MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, first);
  return NULL;
}

static void in_threads(void) {
  pthread_t thread;
  if (rank == last) {
    MPI_Barrier(second);  // mark in_threads
    return;
  }
  pthread_create(&thread, NULL, reduce_in_thread, NULL);
  pthread_join(thread, NULL);
}

// Two threads use one communicator, on the last rank in another order.
static void threads_in_one_communicator(void) {
  pthread_t thread;
  if (rank == last) MPI_Barrier(first);  // mark threads_in_one_communicator
  pthread_create(&thread, NULL, reduce_in_thread, NULL);
  pthread_join(thread, NULL);
  if (rank != last) MPI_Barrier(first);
}

// The spawned process waits for a message instead.
static void never_merges(void) {
  MPI_Comm inter, merged;
  MPI_Comm_get_parent(&inter);
  if (inter != MPI_COMM_NULL)
    MPI_Recv(in, 1, MPI_INT, 0, 4, inter, MPI_STATUS_IGNORE);  // mark never_merges_spawned
  char* arguments[] = {program, "never_merges", NULL};
  MPI_Comm_spawn(launcher, arguments, ranks, MPI_INFO_NULL, 0, world, &inter, MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(inter, 0, &merged);  // mark never_merges
}

static void other_sum(void) {
  int counts[64], places[64], right[64];
  for (int i = 0; i < ranks; ++i) {
    counts[i] = 1;
    places[i] = i;
    right[i] = 1;
  }
  // The last rank sends more than the others expect, and then asks for an answer.
  if (rank == last) counts[last] = 2;
  MPI_Gatherv(in, counts[rank], MPI_INT, out, right, places, MPI_INT, 0, world);
  if (rank == last) MPI_Recv(in, 1, MPI_INT, 0, 5, world, MPI_STATUS_IGNORE);  // mark other_sum
  MPI_Barrier(world);
}

static void calls_mpi(void* from, void* to, int* count, MPI_Datatype* type) {
  (void)from, (void)to, (void)count, (void)type;
  if (rank == 0) MPI_Recv(in, 1, MPI_INT, last, 6, world, MPI_STATUS_IGNORE);  // mark operation
}

static void operation(void) {
  MPI_Op op;
  MPI_Op_create(calls_mpi, 0, &op);
  MPI_Reduce(in, out, 4, MPI_INT, op, 0, world);
  MPI_Barrier(world);
}

static void split_at_some(void) {
  MPI_Comm part;
  if (rank != last) MPI_Comm_split(world, 0, rank, &part);
  MPI_Barrier(world);  // mark split_at_some
}

static void free_at_some(void) {
  if (rank == last) MPI_Barrier(first);  // mark free_at_some
  MPI_Comm_disconnect(&first);
  MPI_Barrier(world);
}

static void open_at_some(void) {
  MPI_File file;
  char name[64];
  snprintf(name, sizeof name, "/tmp/hangs-%d", (int)getppid());
  if (rank != last)
    MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
  MPI_Barrier(world);  // mark open_at_some
}

static void polls(void) {
  MPI_Request request;
  int done = rank != last;
  if (!done) MPI_Irecv(in, 1, MPI_INT, 0, 7, world, &request);
  while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);  // mark polls
  MPI_Barrier(world);
}

// No rank hangs: they compute for long, then meet.
static void computes(void) {
  double end = MPI_Wtime() + 4;
  while (MPI_Wtime() < end) in[2] += 1;
  MPI_Barrier(world);
}

// The ranks hand a message round for long.
static void ring_goes_on(void) {
  int right = (rank + 1) % ranks, left = (rank + last) % ranks;
  double end = MPI_Wtime() + 4;
  for (int goes_on = 1; goes_on;) {
    if (rank == 0) {
      goes_on = in[0] = MPI_Wtime() < end;
      MPI_Send(in, 1, MPI_INT, right, 3, world);
    }
    MPI_Recv(in, 1, MPI_INT, left, 3, world, MPI_STATUS_IGNORE);
    if (rank != 0) {
      goes_on = in[0];
      MPI_Send(in, 1, MPI_INT, right, 3, world);
    }
  }
}

#define CASE(name) {#name, name}
static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {
    CASE(skipped_barrier),
    CASE(extra_bcast),
    CASE(bcast_against_allreduce),
    CASE(order_of_communicators),
    CASE(other_root),
    CASE(other_count),
    CASE(other_type),
    CASE(types_in_allreduce),
    CASE(types_in_scan),
    CASE(types_in_own_operation),
    CASE(allreduce_against_reduce),
    CASE(blocking_against_nonblocking),
    CASE(missing_wait),
    CASE(receive_without_sender),
    CASE(wrong_tag),
    CASE(wrong_peer),
    CASE(broken_ring),
    CASE(killed),
    CASE(exits),
    CASE(aborts),
    CASE(stopped),
    CASE(endless_loop),
    CASE(reads_fifo),
    CASE(sleeps),
    CASE(early_finalize),
    CASE(intercommunicator),
    CASE(session),
    CASE(missing_fence),
    CASE(in_threads),
    CASE(threads_in_one_communicator),
    CASE(neighbour_not_mutual),
    CASE(never_merges),
    CASE(other_sum),
    CASE(operation),
    CASE(split_at_some),
    CASE(free_at_some),
    CASE(open_at_some),
    CASE(polls),
    CASE(computes),
    CASE(ring_goes_on),
};

int main(int argc, char** argv) {
  int provided = 0;
  const int level =
      argc > 1 && strstr(argv[1], "threads") != NULL ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, level, &provided);
  alarm(120);
  MPI_Comm own;
  world = MPI_COMM_WORLD;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &ranks);
  last = ranks - 1;
  if (rank == last) MPI_Comm_dup(MPI_COMM_SELF, &own);  // its communicators have other numbers
  MPI_Comm_dup(world, &first);
  MPI_Comm_dup(world, &second);
  MPI_Comm_set_name(second, "columns");
  program = argv[0];
  launcher = argc > 2 ? argv[2] : argv[0];
  for (int round = 0; round < 3; ++round) {
    MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, world);
    MPI_Barrier(first);
    MPI_Barrier(second);
  }
  for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; ++i)
    if (strcmp(cases[i].name, argv[1]) == 0) cases[i].run();
  MPI_Barrier(world);
  MPI_Finalize();
  return 0;
}
