/* The neutral ground: shared memory, unknown to any MPI, in which ranks meet between measured
 * operations.
 *
 * A barrier of the measured MPI would influence the operation (by warm or contended cache lines, or
 * by ranks that leave it at different times). So ranks meet here instead, and start an operation
 * together at one instant of the clock that all cores share. With more ranks than cores a rank
 * cannot keep its core until that instant: then waiting ranks yield, and an operation starts when
 * the last rank arrives. If a job's emulated nodes are all on one machine, whose cores also run the
 * network, waiting ranks sleep, and an operation starts a short time later.
 *
 * Each rank has one Neutral, used by one thread. The memory has no name and lives until the last
 * rank has unmapped it. */
#ifndef TUTTI_BENCH_NEUTRAL_H
#define TUTTI_BENCH_NEUTRAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"

typedef struct NeutralShared NeutralShared;

typedef struct {
  NeutralShared* shared;
  size_t bytes;
  int rank;
  int ranks;
  int samples; /* room for so many of each rank */
  bool yields; /* more ranks than cores */
  bool sleeps; /* ranks of several nodes of one machine */
  BenchClock clock;
  uint64_t lead;     /* ticks from the last arrival to the start */
  uint64_t late;     /* ticks by which a rank may miss the start */
  uint32_t meetings; /* so far; the same at all ranks between meetings */
  void (*while_waiting)(
      void); /* called repeatedly in a long wait, so that the MPI can make progress */
} Neutral;

#define NEUTRAL_PATH_BYTES 256

/* Making the memory: the first rank makes it, every rank (the first one too) joins by `path`, and
 * when all have joined the first rank removes its name. The first two functions return NULL, or a
 * text that says what failed, with errno set. `cores` is the number of cores that all ranks have
 * together. `ground` is a file to make that all nodes see, or NULL. */
typedef struct {
  int file;
  bool has_name; /* in the file system */
  char path[NEUTRAL_PATH_BYTES];
} NeutralName;
const char* neutral_make(NeutralName* name, const char* ground, int ranks, int samples);
const char* neutral_join(Neutral* neutral, const char* path, int rank, int ranks, int cores,
                         int samples);
void neutral_unname(const NeutralName* name);
/* Makes waiting ranks sleep from now on. All ranks call it before the first meeting, or none. */
void neutral_sleep(Neutral* neutral);
void neutral_leave(Neutral* neutral);

/* Returns when all ranks have arrived. The result is the common start of the next operation, in
 * ticks. */
uint64_t neutral_meet(Neutral* neutral);
/* The same, and waits for the start. False if this rank missed it. */
bool neutral_start(Neutral* neutral, uint64_t* start);

/* The time in which a cache line goes from one core to another, in nanoseconds: half of a round
 * trip between the first two ranks, which get the result. All ranks call it. False, at all of them,
 * if these two ranks may share a core. */
bool neutral_hand_over(Neutral* neutral, double* nanoseconds);

/* The first rank sets the number of operations of a cell; the others read it after a later
 * meeting. */
void neutral_set_end(Neutral* neutral, int operations);
int neutral_end(const Neutral* neutral);

/* This rank notes that it enters operation `number`; the second function is true if all ranks have
 * noted it. Numbers only grow. */
void neutral_enter(const Neutral* neutral, uint32_t number);
bool neutral_all_entered(const Neutral* neutral, uint32_t number);

/* Notes this rank's time of a sample in ticks, or NEUTRAL_NO_SAMPLE. The first rank reads it after
 * a meeting. */
#define NEUTRAL_NO_SAMPLE UINT64_MAX
void neutral_note(Neutral* neutral, int sample, uint64_t ticks);
/* The largest time over the ranks; NEUTRAL_NO_SAMPLE if a rank has none. */
uint64_t neutral_largest(const Neutral* neutral, int sample);

#endif
