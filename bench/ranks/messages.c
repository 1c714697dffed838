/* The costs of messages of the host MPI, between two nodes or within one.
 *
 *   mpiexec -n RANKS tutti-ranks messages MILLISECONDS
 *
 * `tutti model measure --network` starts it. The first two ranks measure LogGP's parameters
 * (link.h, late.h), with MILLISECONDS for each value. If all ranks are on one node, their number
 * must be even, and they also exchange messages pair by pair, all at once. Ranks on two nodes must
 * be two. The row of the job has `nodes`, 2 if not all share memory, and `ranks`. There are rows of
 *
 *   round_trip    by bytes
 *   send          by bytes: how long a send keeps the processor busy, in trains with pauses
 *                 between their messages
 *   receive       the same of a receive
 *   gap           by bytes: from a message of a train to the next
 *   prompt        bytes of the longest message that does not wait for its receiver; limited: longer
 *                 ones were not tried
 *   at_once       within a node: the bytes of each of `ranks` messages, and the time of all */
#include "late.h"
#include "link.h"
#include "rows.h"

static const double longest_message =
    25e-3; /* seconds for its bytes; longer ones are not measured */
enum { train_count = 10, long_count = 4, tag_at_once = 9 };

static void add(const char* call, size_t bytes, double seconds) {
  row_begin_call("message", call, bytes);
  row_number("ns", seconds * 1e9);
  row_end();
}

/* Round trips of one message, up to the longest that is quick enough. Returns its bytes. */
static size_t measure_round_trips(Link* link) {
  static const size_t lengths[] = {8, 1024, 8192, 65536, 262144, 1048576};
  size_t longest = 0;
  double shortest = 0;
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
    const double taken = link_round_trip(link, lengths[i]);
    add("round_trip", lengths[i], taken);
    longest = lengths[i];
    if (i == 0) shortest = taken;
    if (taken > shortest + 2 * longest_message && longest >= 65536) break;
  }
  return longest;
}

static void measure_gaps(Link* link, size_t longest) {
  add("gap", 8, link_gap(link, train_count, 8));
  add("gap", 8192, link_gap(link, train_count, 8192));
  for (size_t bytes = 65536; bytes <= longest; bytes *= 4)
    add("gap", bytes, link_gap(link, long_count, bytes));
}

/* Each message leaves during the pause after it, which is longer than the gap. */
static void measure_sends(Link* link) {
  for (size_t bytes = 8; bytes <= 8192; bytes *= 32) {
    const double delay = 4 * link_gap(link, train_count, bytes) + 1e-6;
    add("send", bytes, link_send_overhead(link, train_count, delay, bytes));
  }
}

static void measure_receives(Link* link) {
  for (size_t bytes = 8; bytes <= 8192; bytes *= 32)
    add("receive", bytes, late_receive_overhead(link, bytes));
}

static void measure_link(Link* link) {
  const size_t longest = measure_round_trips(link);
  measure_gaps(link, longest);
  measure_sends(link);
  measure_receives(link);
  bool limited;
  const size_t prompt = late_prompt_bytes(link, longest_message, &limited);
  row_begin_call("message", "prompt", prompt);
  row_flag("limited", limited);
  row_end();
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

static void measure_exchange(const Link* link) {
  const int bytes = 1 << 20;
  Link all = *link; /* the same memory, and all ranks */
  all.comm = MPI_COMM_WORLD;
  add("at_once", (size_t)bytes, link_typical(&all, exchange, &bytes));
}

static bool on_one_node(int ranks) {
  int first, fewest;
  const int here = ranks_of_node(&first);
  MPI_Allreduce(&here, &fewest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return fewest == ranks;
}

static void measure_messages(const Ranks* ranks, int argc, char** argv) {
  static const char usage[] = "messages: give MILLISECONDS, from 1 to 100000";
  if (argc != 2) ranks_stop(usage);
  const double budget = (double)ranks_number(argv[1], 1, 100000, usage);
  const bool within = on_one_node(ranks->ranks);
  if (ranks->ranks < 2 || ranks->ranks % 2 != 0 || (!within && ranks->ranks != 2))
    ranks_stop("start an even number of ranks on one node, or two ranks on two nodes");
  MPI_Comm pair;
  MPI_Comm_split(MPI_COMM_WORLD, ranks->rank / 2, ranks->rank, &pair);
  Link link = link_open(ranks, pair, budget * 1e-3);
  row_begin("job");
  row_integer("nodes", within ? 1 : 2);
  row_integer("ranks", ranks->ranks);
  row_end();
  if (ranks->rank < 2) measure_link(&link);
  MPI_Barrier(MPI_COMM_WORLD);
  if (within) measure_exchange(&link);
  link_close(&link);
  MPI_Comm_free(&pair);
}

static RanksKind kind = {"messages", measure_messages, NULL};
__attribute__((constructor)) static void add_kind(void) { ranks_add(&kind); }
