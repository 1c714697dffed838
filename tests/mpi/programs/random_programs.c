// Random programs of messages, one-sided calls and collectives, each with answers that are known
// beforehand. All ranks draw the same random numbers, so they make the same program; each then
// pauses as it likes. Arguments: the first seed, the number of programs, and the threads of a rank,
// each of which makes programs of its own on a communicator of its own.
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { longest = 20000, most_ranks = 64, most_threads = 8, steps = 24 };

// What one thread of a rank needs for its programs.
struct program {
  uint64_t state;    // of the random numbers that all ranks draw
  uint64_t private;  // of this rank's own
  uint64_t seed;
  MPI_Comm comm;
  MPI_Win window;
  long* memory;  // of the window: one element for each rank, and a counter
  int rank, ranks, wrong;
  int in[longest], out[longest], sent[longest];
  MPI_Status statuses[8];
  MPI_Request pending;  // a non-blocking collective, completed some steps later
  int pending_in[64], pending_out[64 * most_ranks], pending_kind;
};

// Random numbers by splitmix64.
static unsigned next(uint64_t* state, unsigned below) {
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (unsigned)((z ^ (z >> 31)) % below);
}
static int draw(struct program* p, unsigned below) { return (int)next(&p->state, below); }

// Mostly short, sometimes long enough for a rendezvous.
static int draw_length(struct program* p) {
  static const int lengths[] = {0, 1, 2, 7, 64, 500, 3000, longest};
  return lengths[draw(p, 8)];
}

static void expect(struct program* p, int right, const char* what) {
  if (right) return;
  ++p->wrong;
  fprintf(stderr, "seed %llu, rank %d: wrong answer of %s\n", (unsigned long long)p->seed, p->rank,
          what);
}

static int value(int rank, int step, int i) { return rank * 1000003 + step * 101 + i; }
static void fill(int* data, int length, int rank, int step) {
  for (int i = 0; i < length; ++i) data[i] = value(rank, step, i);
}
static int is_filled(const int* data, int length, int rank, int step) {
  for (int i = 0; i < length; ++i)
    if (data[i] != value(rank, step, i)) return 0;
  return 1;
}

static void pause_a_little(struct program* p) {
  if (next(&p->private, 4) == 0) usleep(next(&p->private, 2000));
}

// Completes requests by a drawn function.
static void complete(struct program* p, int count, MPI_Request* requests) {
  int index, flag = 0, some, indices[8];
  switch (draw(p, 5)) {
    case 0: MPI_Waitall(count, requests, p->statuses); break;
    case 1:
      for (int i = 0; i < count; ++i) MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
      break;
    case 2:
      for (int left = count; left > 0; left -= some)
        MPI_Waitsome(count, requests, &some, indices, p->statuses);
      break;
    case 3:
      while (!flag) MPI_Testall(count, requests, &flag, p->statuses);
      break;
    default:
      for (int i = count - 1; i >= 0; --i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
}

// Each rank sends to the rank `shift` after it, in a drawn way.
static void shift(struct program* p, int step) {
  const int by = draw(p, (unsigned)p->ranks), length = draw_length(p), way = draw(p, 8);
  const int to = (p->rank + by) % p->ranks, from = (p->rank - by + p->ranks) % p->ranks;
  MPI_Request requests[2];
  MPI_Status status;
  MPI_Message message;
  fill(p->out, length, p->rank, step);
  memset(p->in, -1, sizeof p->in);
  pause_a_little(p);
  switch (way) {
    case 0:
      MPI_Sendrecv(p->out, length, MPI_INT, to, step, p->in, length, MPI_INT, from, step, p->comm,
                   MPI_STATUS_IGNORE);
      break;
    case 1:
      memcpy(p->in, p->out, sizeof(int) * (size_t)length);
      MPI_Sendrecv_replace(p->in, length, MPI_INT, to, step, from, step, p->comm,
                           MPI_STATUS_IGNORE);
      break;
    case 2:
    case 3:
      MPI_Irecv(p->in, length, MPI_INT, way == 2 ? from : MPI_ANY_SOURCE, step, p->comm, requests);
      MPI_Isend(p->out, length, MPI_INT, to, step, p->comm, requests + 1);
      complete(p, 2, requests);
      break;
    case 4:  // persistent requests
      MPI_Recv_init(p->in, length, MPI_INT, from, step, p->comm, requests);
      MPI_Ssend_init(p->out, length, MPI_INT, to, step, p->comm, requests + 1);
      MPI_Startall(2, requests);
      MPI_Waitall(2, requests, p->statuses);
      MPI_Request_free(&requests[0]);
      MPI_Request_free(&requests[1]);
      break;
    case 5:
      MPI_Issend(p->out, length, MPI_INT, to, step, p->comm, requests);
      MPI_Mprobe(from, step, p->comm, &message, &status);
      MPI_Mrecv(p->in, length, MPI_INT, &message, MPI_STATUS_IGNORE);
      MPI_Wait(requests, MPI_STATUS_IGNORE);
      break;
    case 6:
      MPI_Isend(p->out, length, MPI_INT, to, step, p->comm, requests);
      MPI_Probe(from, step, p->comm, &status);
      MPI_Recv(p->in, length, MPI_INT, from, step, p->comm, MPI_STATUS_IGNORE);
      MPI_Wait(requests, MPI_STATUS_IGNORE);
      break;
    default:
      MPI_Irecv(p->in, length, MPI_INT, from, step, p->comm, requests);
      MPI_Send(p->out, length, MPI_INT, to, step, p->comm);
      MPI_Wait(requests, MPI_STATUS_IGNORE);
  }
  expect(p, is_filled(p->in, length, from, step), "a shift");
}

// A rank gives out numbers, and the others add them up and give the sums back.
static void farm(struct program* p, int step) {
  const int root = draw(p, (unsigned)p->ranks), tasks = draw(p, 20);
  long sum = 0;
  int task;
  if (p->rank != root) {
    for (MPI_Send(&sum, 0, MPI_LONG, root, step, p->comm);;
         MPI_Send(&sum, 0, MPI_LONG, root, step, p->comm)) {
      MPI_Recv(&task, 1, MPI_INT, root, step, p->comm, MPI_STATUS_IGNORE);
      if (task < 0) break;
      sum += task;
      pause_a_little(p);
    }
  } else {
    MPI_Status status;
    for (int next_task = 1, ended = 0; ended < p->ranks - 1;) {
      MPI_Recv(&sum, 0, MPI_LONG, MPI_ANY_SOURCE, step, p->comm, &status);
      task = next_task <= tasks ? next_task++ : -1;
      ended += task < 0;
      MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, step, p->comm);
    }
    sum = p->ranks == 1 ? tasks * (tasks + 1) / 2 : 0;
  }
  long all = 0;
  MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, root, p->comm);
  if (p->rank == root) expect(p, all == (long)tasks * (tasks + 1) / 2, "a task farm");
}

static void one_sided(struct program* p) {
  const int way = draw(p, 3), target = draw(p, (unsigned)p->ranks), rounds = 1 + draw(p, 4);
  const long one = 1, own = p->rank + 1;
  long before = -1, got = -1;
  memset(p->memory, 0, sizeof(long) * (most_ranks + 1));
  pause_a_little(p);
  if (way == 0) {
    MPI_Win_fence(0, p->window);
    MPI_Put(&own, 1, MPI_LONG, target, p->rank, 1, MPI_LONG, p->window);
    MPI_Win_fence(0, p->window);
    MPI_Get(&got, 1, MPI_LONG, target, (p->rank + 1) % p->ranks, 1, MPI_LONG, p->window);
    MPI_Win_fence(0, p->window);
    expect(p, got == (p->rank + 1) % p->ranks + 1, "a put and a get");
  } else {
    MPI_Barrier(p->comm);  // the memory is cleared
    for (int i = 0; i < rounds; ++i) {
      MPI_Win_lock(MPI_LOCK_SHARED, target, 0, p->window);
      if (way == 1)
        MPI_Fetch_and_op(&one, &before, MPI_LONG, target, most_ranks, MPI_SUM, p->window);
      else
        MPI_Accumulate(&one, 1, MPI_LONG, target, most_ranks, 1, MPI_LONG, MPI_SUM, p->window);
      MPI_Win_unlock(target, p->window);
    }
    MPI_Barrier(p->comm);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, p->window);
    MPI_Get(&got, 1, MPI_LONG, target, most_ranks, 1, MPI_LONG, p->window);
    MPI_Win_unlock(target, p->window);
    expect(p, got == (long)rounds * p->ranks, "atomic operations");
  }
  MPI_Barrier(p->comm);
}

static void collective(struct program* p, MPI_Comm comm, int step) {
  const int way = draw(p, 7), length = draw_length(p) / p->ranks;
  int rank, ranks, right = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int root = draw(p, 1u << 16) % ranks;
  pause_a_little(p);
  fill(p->out, length, rank, step);
  switch (way) {
    case 0: MPI_Barrier(comm); break;
    case 1:
      if (rank == root) fill(p->in, length, root, step);
      MPI_Bcast(p->in, length, MPI_INT, root, comm);
      right = is_filled(p->in, length, root, step);
      break;
    case 2:
    case 3:
      if (way == 2)
        MPI_Allreduce(p->out, p->in, length, MPI_INT, MPI_MAX, comm);
      else
        MPI_Reduce(p->out, p->in, length, MPI_INT, MPI_MAX, root, comm);
      if (way == 2 || rank == root) right = is_filled(p->in, length, ranks - 1, step);
      break;
    case 4:
      MPI_Allgather(p->out, length, MPI_INT, p->in, length, MPI_INT, comm);
      for (int from = 0; from < ranks; ++from)
        right = right && is_filled(p->in + from * length, length, from, step);
      break;
    case 5:
      for (int to = 0; to < ranks; ++to)
        fill(p->sent + to * length, length, rank * ranks + to, step);
      MPI_Alltoall(p->sent, length, MPI_INT, p->in, length, MPI_INT, comm);
      for (int from = 0; from < ranks; ++from)
        right = right && is_filled(p->in + from * length, length, from * ranks + rank, step);
      break;
    default:
      MPI_Scan(p->out, p->in, length, MPI_INT, MPI_MAX, comm);
      right = is_filled(p->in, length, rank, step);
  }
  expect(p, right, "a collective");
}

static void on_a_part(struct program* p, int step) {
  const int colours = 1 + draw(p, 3);
  MPI_Comm part;
  MPI_Comm_split(p->comm, p->rank % colours, -p->rank, &part);
  // The parts draw the same numbers, also if the parts differ in size.
  for (int i = 0; i < 3; ++i) collective(p, part, step + i);
  MPI_Comm_free(&part);
}

static void end_pending(struct program* p) {
  if (p->pending == MPI_REQUEST_NULL) return;
  complete(p, 1, &p->pending);
  int right = 1;
  if (p->pending_kind == 1) right = is_filled(p->pending_out, 64, p->ranks - 1, 0);
  for (int from = 0; p->pending_kind == 2 && from < p->ranks; ++from)
    right = right && is_filled(p->pending_out + 64 * from, 64, from, 0);
  expect(p, right, "a non-blocking collective");
}

static void start_pending(struct program* p) {
  if (p->pending != MPI_REQUEST_NULL) return;
  p->pending_kind = draw(p, 3);
  fill(p->pending_in, 64, p->rank, 0);
  if (p->pending_kind == 0)
    MPI_Ibarrier(p->comm, &p->pending);
  else if (p->pending_kind == 1)
    MPI_Iallreduce(p->pending_in, p->pending_out, 64, MPI_INT, MPI_MAX, p->comm, &p->pending);
  else
    MPI_Iallgather(p->pending_in, 64, MPI_INT, p->pending_out, 64, MPI_INT, p->comm, &p->pending);
}

static void run(struct program* p) {
  // No two steps have the same tag, because a rank may be ahead of others by several.
  const int first = (int)(p->seed / most_threads % 500) * steps;
  for (int step = first + 1; step <= first + steps; ++step) switch (draw(p, 12)) {
      case 0:
      case 1:
      case 2: shift(p, step); break;
      case 3: farm(p, step); break;
      case 4:
      case 5: one_sided(p); break;
      case 6:
      case 7:
      case 8: collective(p, p->comm, step); break;
      case 9: on_a_part(p, step); break;
      case 10: start_pending(p); break;
      default: end_pending(p);
    }
  end_pending(p);
}

static long first_seed, programs;

// The programs of one thread.
static void* run_all(void* argument) {
  struct program* const p = argument;
  MPI_Comm_rank(p->comm, &p->rank);
  MPI_Comm_size(p->comm, &p->ranks);
  p->private = (uint64_t)p->rank;
  p->pending = MPI_REQUEST_NULL;
  for (long i = 0; i < programs; ++i) {
    p->state = p->seed = (uint64_t)(first_seed + i) * most_threads + p->seed % most_threads;
    run(p);
  }
  return NULL;
}

int main(int argc, char** argv) {
  first_seed = argc > 1 ? atol(argv[1]) : 1;
  programs = argc > 2 ? atol(argv[2]) : 10;
  const int threads = argc > 3 ? atoi(argv[3]) : 1;
  int granted, wrong = 0, rank;
  MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &granted);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static struct program made[most_threads];
  pthread_t ids[most_threads];
  for (int i = 0; i < threads; ++i) {
    made[i].seed = (uint64_t)i;
    MPI_Comm_dup(MPI_COMM_WORLD, &made[i].comm);
    MPI_Win_allocate(sizeof(long) * (most_ranks + 1), sizeof(long), MPI_INFO_NULL, made[i].comm,
                     &made[i].memory, &made[i].window);
  }
  for (int i = 1; i < threads; ++i) pthread_create(&ids[i], NULL, run_all, &made[i]);
  run_all(&made[0]);
  for (int i = 1; i < threads; ++i) pthread_join(ids[i], NULL);
  for (int i = 0; i < threads; ++i) {
    wrong += made[i].wrong;
    MPI_Win_free(&made[i].window);
    MPI_Comm_free(&made[i].comm);
  }
  MPI_Finalize();
  if (rank == 0 && wrong == 0) puts("ok");
  return wrong > 0;
}
