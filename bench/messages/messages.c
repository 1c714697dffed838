/* tutti-messages: measures what messages of the host MPI cost, between two nodes or within one.
 *
 *   tutti-messages MILLISECONDS
 *
 * One program for each MPI ABI; `tutti model measure --network` starts it. The first two ranks
 * measure LogGP's parameters (link.h, late.h), with MILLISECONDS for each value. If all ranks are
 * on one node, their number must be even, and they also exchange messages pair by pair, all at
 * once. Ranks on two nodes must be two. The first rank writes one line of JSON to stdout, with
 * times in microseconds:
 *
 *   nodes, ranks  of the job; nodes is 2 if not all share memory
 *   round_trip    by bytes
 *   send          by bytes: how long a send keeps the processor busy, in trains with pauses
 *                 between their messages
 *   receive       the same of a receive
 *   gap           by bytes: from a message of a train to the next
 *   prompt        bytes of the longest message that does not wait for its receiver; prompt_limited:
 *                 longer ones were not tried
 *   at_once       within a node: the bytes of each of `ranks` messages, and the time of all */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "../json.h"
#include "late.h"
#include "link.h"

static const double longest_message =
    25e-3; /* seconds for its bytes; longer ones are not measured */
enum { train_count = 10, long_count = 4, tag_at_once = 9 };

static void stop(const char* what) {
  fprintf(stderr, "tutti-messages: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 2);
  exit(2);
}

static void write_time(BenchJson* json, size_t bytes, double seconds) {
  char name[24];
  snprintf(name, sizeof name, "%zu", bytes);
  bench_json_number(json, name, seconds * 1e6, 4);
}

/* Round trips of one message, up to the longest that is quick enough. Returns its bytes. */
static size_t write_round_trips(Link* link, BenchJson* json) {
  static const size_t lengths[] = {8, 1024, 8192, 65536, 262144, 1048576};
  size_t longest = 0;
  double shortest = 0;
  bench_json_begin_object(json, "round_trip");
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
    const double taken = link_round_trip(link, lengths[i]);
    write_time(json, lengths[i], taken);
    longest = lengths[i];
    if (i == 0) shortest = taken;
    if (taken > shortest + 2 * longest_message && longest >= 65536) break;
  }
  bench_json_end(json);
  return longest;
}

static void write_gaps(Link* link, BenchJson* json, size_t longest) {
  bench_json_begin_object(json, "gap");
  write_time(json, 8, link_gap(link, train_count, 8));
  write_time(json, 8192, link_gap(link, train_count, 8192));
  for (size_t bytes = 65536; bytes <= longest; bytes *= 4)
    write_time(json, bytes, link_gap(link, long_count, bytes));
  bench_json_end(json);
}

/* Each message leaves during the pause after it, which is longer than the gap. */
static void write_sends(Link* link, BenchJson* json) {
  bench_json_begin_object(json, "send");
  for (size_t bytes = 8; bytes <= 8192; bytes *= 32) {
    const double delay = 4 * link_gap(link, train_count, bytes) + 1e-6;
    write_time(json, bytes, link_send_overhead(link, train_count, delay, bytes));
  }
  bench_json_end(json);
}

static void write_receives(Link* link, BenchJson* json) {
  bench_json_begin_object(json, "receive");
  for (size_t bytes = 8; bytes <= 8192; bytes *= 32)
    write_time(json, bytes, late_receive_overhead(link, bytes));
  bench_json_end(json);
}

static void measure_link(Link* link, BenchJson* json) {
  const size_t longest = write_round_trips(link, json);
  write_gaps(link, json, longest);
  write_sends(link, json);
  write_receives(link, json);
  bool limited;
  const size_t prompt = late_prompt_bytes(link, longest_message, &limited);
  bench_json_integer(json, "prompt", (int64_t)prompt);
  bench_json_flag(json, "prompt_limited", limited);
}

/* All ranks of a node: each sends to its neighbour, and receives from it. The time of the slowest.
 */
static double exchange(Link* all, const void* what) {
  const int bytes = *(const int*)what;
  int rank;
  MPI_Comm_rank(all->comm, &rank);
  MPI_Request requests[2];
  MPI_Barrier(all->comm);
  const uint64_t began = bench_now(&all->clock);
  MPI_Irecv(all->in, bytes, MPI_BYTE, rank ^ 1, tag_at_once, all->comm, &requests[0]);
  MPI_Isend(all->out, bytes, MPI_BYTE, rank ^ 1, tag_at_once, all->comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  double slowest = link_seconds(all, bench_now(&all->clock) - began);
  MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, all->comm);
  return slowest;
}

static void write_exchange(const Link* link, BenchJson* json) {
  const int bytes = 1 << 20;
  Link all = *link; /* the same memory, and all ranks */
  all.comm = MPI_COMM_WORLD;
  const double taken = link_typical(&all, exchange, &bytes);
  bench_json_begin_object(json, "at_once");
  bench_json_integer(json, "bytes", bytes);
  bench_json_number(json, "us", taken * 1e6, 4);
  bench_json_end(json);
}

static bool on_one_node(int ranks) {
  MPI_Comm node;
  int here;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &here);
  MPI_Comm_free(&node);
  int fewest;
  MPI_Allreduce(&here, &fewest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return fewest == ranks;
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char* end = NULL;
  const double budget = argc == 2 ? strtod(argv[1], &end) : 0;
  if (end == NULL || *end != '\0' || !(budget > 0 && budget <= 1e5))
    stop("usage: mpiexec -n RANKS tutti-messages MILLISECONDS, more than 0 and at most 100000");
  const bool within = on_one_node(ranks);
  if (ranks < 2 || ranks % 2 != 0 || (!within && ranks != 2))
    stop("start an even number of ranks on one node, or two ranks on two nodes");
  MPI_Comm pair;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
  Link link = link_open(pair, budget * 1e-3);
  BenchJson* const json = bench_json_open();
  bench_json_text(json, "format", "tutti-messages 1");
  bench_json_integer(json, "nodes", within ? 1 : 2);
  bench_json_integer(json, "ranks", ranks);
  if (rank < 2) measure_link(&link, json);
  MPI_Barrier(MPI_COMM_WORLD);
  if (within) write_exchange(&link, json);
  if (rank == 0) bench_json_write_line(json, stdout);
  link_close(&link);
  MPI_Comm_free(&pair);
  MPI_Finalize();
  return 0;
}
