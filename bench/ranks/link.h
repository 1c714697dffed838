/* Two ranks that exchange messages over the host MPI: trains of messages from the first to the
 * second, which answers.
 *
 * The first rank takes the times, by its own clock. The other ranks of the job take no part. Both
 * ranks make the same calls, with the same arguments; results are the first rank's alone, where it
 * is not said otherwise.
 *
 * Source: the parametrized round trips of Hoefler, Lichei and Rehm, "Low-overhead LogGP parameter
 * assessment for modern interconnection networks" (2007), section 3. */
#ifndef TUTTI_BENCH_MESSAGES_LINK_H
#define TUTTI_BENCH_MESSAGES_LINK_H

#include <stddef.h>

#include "ranks.h"

enum {
  link_most_bytes = 1 << 22, /* bytes of a message, and of all messages of a train */
  link_most_count = 16       /* messages of a train */
};

typedef struct {
  MPI_Comm comm; /* the communicator of the two ranks */
  int self;      /* 0 or 1 */
  BenchClock clock;
  char *out, *in; /* messages leave from `out` and come to `in`; each has link_most_bytes */
  double budget;  /* seconds for each value */
  int fewest;     /* rounds of each value, whatever they take */
} Link;

/* Memory for a link of these two ranks. The job ends if there is none. */
Link link_open(const Ranks* ranks, MPI_Comm comm, double budget);
void link_close(Link* link);

double link_seconds(const Link* link, uint64_t ticks);
/* Lets at least this time pass, without any call of MPI. */
void link_let_pass(const Link* link, double seconds);

/* Tells the other rank that this one has come so far, or waits for that. */
void link_tell(Link* link);
void link_await(Link* link);

/* The seconds of a round trip: a message of `bytes` bytes goes, and one of as many comes back. Here
 * and in trains receives are posted before. Typical; known to both ranks. */
double link_round_trip(Link* link, size_t bytes);
/* The seconds that the processor is busy with a send, in trains of `count` messages with `delay`
 * seconds of pause after each but the last. Typical; known to both ranks. */
double link_send_overhead(Link* link, int count, double delay, size_t bytes);

/* The seconds from a message of a train to the next, without delay: by how much a train of `count`
 * messages takes longer than a single one, which goes before each. The median. */
double link_gap(Link* link, int count, size_t bytes);

/* The first quartile of what `once` returns at the first rank, in seconds, because other programs
 * only make messages slower. A few calls warm up; then come as many as fit into the budget, at
 * least link->fewest. Known to both ranks. */
double link_typical(Link* link, double (*once)(Link* link, const void* what), const void* what);

#endif
