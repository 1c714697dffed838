#include "link.h"

#include <sched.h>
#include <stdlib.h>

#include "statistics.h"

enum { tag_data = 1, tag_answer, tag_ready };

Link link_open(const Ranks* ranks, MPI_Comm comm, double budget) {
  Link link = {.comm = comm, .clock = ranks->clock, .budget = budget, .fewest = 9};
  MPI_Comm_rank(comm, &link.self);
  link.out = ranks_memory(link_most_bytes, 1);
  link.in = ranks_memory(link_most_bytes, 1);
  return link;
}

void link_close(Link* link) {
  free(link->out);
  free(link->in);
}

double link_seconds(const Link* link, uint64_t ticks) {
  return (double)ticks / link->clock.ticks_per_second;
}

void link_let_pass(const Link* link, double seconds) {
  const uint64_t until =
      bench_now(&link->clock) + (uint64_t)(seconds * link->clock.ticks_per_second);
  while (bench_now(&link->clock) < until) sched_yield(); /* the network may need a core */
}

void link_tell(Link* link) { MPI_Send(NULL, 0, MPI_BYTE, !link->self, tag_ready, link->comm); }

void link_await(Link* link) {
  MPI_Recv(NULL, 0, MPI_BYTE, !link->self, tag_ready, link->comm, MPI_STATUS_IGNORE);
}

/* The value below which so many quarters of the values of `once` lie. */
static double quantile(Link* link, int quarters, double (*once)(Link* link, const void* what),
                       const void* what) {
  enum { most = 401, to_warm = 2 };
  double taken[most];
  uint64_t began = 0;
  for (int i = 0; i < to_warm; ++i) {
    began = bench_now(&link->clock); /* the time of the last: the first may set up connections */
    once(link, what);
  }
  const double each = link_seconds(link, bench_now(&link->clock) - began);
  int rounds = most;
  if (each * most > link->budget) rounds = (int)(link->budget / each);
  if (rounds < link->fewest) rounds = link->fewest;
  MPI_Bcast(&rounds, 1, MPI_INT, 0, link->comm);
  for (int i = 0; i < rounds; ++i) taken[i] = once(link, what);
  sort_samples(taken, (size_t)rounds);
  double found = taken[rounds * quarters / 4];
  MPI_Bcast(&found, 1, MPI_DOUBLE, 0, link->comm);
  return found;
}

typedef struct {
  int count;
  double delay;
  size_t bytes;
} Train;

/* The second rank: it posts all receives, says so, and answers. */
static void answer(Link* link, const Train* train) {
  MPI_Request requests[link_most_count];
  for (int i = 0; i < train->count; ++i)
    MPI_Irecv(link->in + (size_t)i * train->bytes, (int)train->bytes, MPI_BYTE, 0, tag_data,
              link->comm, &requests[i]);
  link_tell(link);
  MPI_Waitall(train->count, requests, MPI_STATUSES_IGNORE);
  MPI_Send(link->out, (int)train->bytes, MPI_BYTE, 0, tag_answer, link->comm);
}

typedef struct {
  double whole; /* until the answer has come */
  double busy;  /* in the calls that send */
} Times;

static Times send_train(Link* link, const Train* train) {
  if (link->self == 1) return answer(link, train), (Times){0, 0};
  MPI_Request answered, requests[link_most_count];
  MPI_Irecv(link->in, (int)train->bytes, MPI_BYTE, 1, tag_answer, link->comm, &answered);
  link_await(link);
  const uint64_t began = bench_now(&link->clock);
  uint64_t busy = 0;
  for (int i = 0; i < train->count; ++i) {
    const uint64_t before = bench_now(&link->clock);
    MPI_Isend(link->out, (int)train->bytes, MPI_BYTE, 1, tag_data, link->comm, &requests[i]);
    busy += bench_now(&link->clock) - before;
    if (train->delay > 0 && i + 1 < train->count) link_let_pass(link, train->delay);
  }
  MPI_Wait(&answered, MPI_STATUS_IGNORE);
  const double whole = link_seconds(link, bench_now(&link->clock) - began);
  MPI_Waitall(train->count, requests, MPI_STATUSES_IGNORE);
  return (Times){whole, link_seconds(link, busy)};
}

static double whole_of(Link* link, const void* train) { return send_train(link, train).whole; }
static double busy_of(Link* link, const void* train) { return send_train(link, train).busy; }

double link_round_trip(Link* link, size_t bytes) {
  const Train train = {1, 0, bytes};
  return link_typical(link, whole_of, &train);
}

double link_send_overhead(Link* link, int count, double delay, size_t bytes) {
  const Train train = {count, delay, bytes};
  return link_typical(link, busy_of, &train) / count;
}

static double difference_of(Link* link, const void* train) {
  Train one = *(const Train*)train;
  one.count = 1;
  const double alone = whole_of(link, &one);
  return whole_of(link, train) - alone;
}

double link_gap(Link* link, int count, size_t bytes) {
  const Train train = {count, 0, bytes};
  const double gap = quantile(link, 2, difference_of, &train) / (count - 1);
  return gap > 0 ? gap : 0;
}

double link_typical(Link* link, double (*once)(Link* link, const void* what), const void* what) {
  return quantile(link, 1, once, what);
}
