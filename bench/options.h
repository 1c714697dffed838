/* What a tutti-bench job measures: its command line, parsed. Every rank parses the same words to the same end. */
#ifndef TUTTI_BENCH_OPTIONS_H
#define TUTTI_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
  BENCH_ALLREDUCE,
  BENCH_BCAST,
  BENCH_REDUCE,
  BENCH_BARRIER,
  BENCH_GATHER,
  BENCH_SCATTER,
  BENCH_ALLGATHER,
  BENCH_ALLTOALL,
  BENCH_REDUCE_SCATTER_BLOCK,
  BENCH_SCAN,
  BENCH_EXSCAN,
  BENCH_GATHERV,
  BENCH_SCATTERV,
  BENCH_ALLGATHERV,
  BENCH_ALLTOALLV,
  BENCH_REDUCE_SCATTER,
  BENCH_COLLECTIVES,
  BENCH_FLAGS = BENCH_COLLECTIVES, /* no collective: what the machine needs for two ranks to see each other's word */
} BenchCollective;
extern const char* const bench_collective_names[BENCH_COLLECTIVES]; /* MPI's, in lower case */

enum { BENCH_MOST_SIZES = 64, BENCH_MOST_ITERATIONS = 20000 };

typedef struct {
  BenchCollective collectives[BENCH_COLLECTIVES];
  int collective_count;
  size_t sizes[BENCH_MOST_SIZES]; /* bytes, whole doubles: see collectives.h for what of; barriers have none */
  int size_count;
  int iterations;                 /* 0: as many as fit into the budget */
  double budget_seconds;          /* for each cell, everything included */
  int root;
  bool every_root;                /* each root in turn, a cell each */
  bool dirty;                     /* owners rewrite their buffers before each operation */
  bool verify;
  const char* ground;             /* the file in whose memory ranks of several nodes of one machine meet; NULL: one node */
  const char* json;               /* a file, "-" for stdout, or NULL for a table */
  bool help;
} BenchOptions;

extern const char bench_usage[];

/* False, and one line in `message`, where the words are not accepted. */
bool bench_parse(int argc, char** argv, int ranks, BenchOptions* options, char message[256]);

#endif
