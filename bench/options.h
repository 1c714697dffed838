/* The parsed command line of a tutti-bench job. Every rank parses the same words, with the same
 * result. */
#ifndef TUTTI_BENCH_OPTIONS_H
#define TUTTI_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kinds.h"
#include "trials.h"

enum { BENCH_MOST_SIZES = 64, BENCH_MOST_ITERATIONS = 20000, BENCH_MOST_DURATIONS = 2048 };

/* The conditions under which kinds are measured: each kind repeated, or all in a shuffled order;
 * with warm caches, or after each rank streamed over other memory. */
typedef struct {
  bool mixed, cold;
} BenchCondition;
enum { BENCH_MOST_CONDITIONS = 4 };
const char* bench_condition_name(BenchCondition condition);

/* The kinds of measurements: calls, calls beside computations (overlap.h), and exchanges of ghost
 * cells (halo.h), which may be beside computations too. */
typedef enum { BENCH_CALLS, BENCH_OVERLAP, BENCH_HALO, BENCH_MEASUREMENTS } BenchMeasurement;

typedef struct {
  BenchKinds kinds; /* in the order of the tables; its memory is the caller's */
  bool listed;      /* as --kinds says; else each collective in each size */
  WordList collectives;
  size_t sizes[BENCH_MOST_SIZES]; /* bytes, whole doubles: see collectives.h for what of; barriers
                                     have none */
  int size_count;
  WordList lengths; /* each collective whose parts may differ, in each of them */
  WordList forms;   /* each kind in each of them */
  BenchMeasurement measurement;
  bool overlap;                           /* beside computations */
  double computing[BENCH_MOST_DURATIONS]; /* microseconds: one for all kinds, or one each */
  int computing_count;                    /* 0: as long as the blocking call */
  size_t faces[BENCH_MOST_SIZES];         /* bytes of a face: 4 n^2 */
  int face_count;
  bool mixed;            /* besides, in a shuffled order */
  size_t cold_bytes;     /* besides, cold: so much is streamed over before each operation; 0: not */
  uint64_t seed;         /* the seed of the shuffled order */
  int iterations;        /* 0: as many as fit into the budget */
  double budget_seconds; /* for each cell, everything included */
  int root;
  bool every_root; /* each root in turn, a cell each */
  bool dirty;      /* owners rewrite their buffers before each operation */
  bool verify;
  const char* ground; /* the file in whose memory ranks of several nodes of one machine meet; NULL:
                         one node */
  Trials trials;      /* instead of once, all kinds in each of them; their memory is the caller's */
  bool former;        /* --sizes, the former name of --bytes, was given */
  bool help;
} BenchOptions;

/* The collectives that are measured if the words name none. */
#define BENCH_USUAL_COLLECTIVES "allreduce,bcast,reduce,barrier"

extern const char bench_usage[];

/* Gets the conditions to measure, plain first; returns their number. */
int bench_conditions(const BenchOptions* options, BenchCondition conditions[BENCH_MOST_CONDITIONS]);

/* False, and one line in `message`, if the words are not accepted. */
bool bench_parse(int argc, char** argv, int ranks, BenchOptions* options, char message[256]);

#endif
