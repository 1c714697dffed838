/* The neutral ground on which ranks meet between measured operations: shared memory that no MPI
 * knows of.
 *
 * A barrier of the MPI under test would leave its own traces (warm or contended lines, ranks skewed
 * by its last hop), so ranks meet here instead, and start an operation together at one instant of
 * the clock that all cores share. With more ranks than cores no rank can hold its core until an
 * instant comes: there the meeting yields, and an operation starts when the last rank arrives.
 * Where the nodes of a job are all on one machine, and its network is made by the same cores, who
 * waits sleeps, and an operation starts an instant later.
 *
 * One Neutral a rank, used by one thread; the memory has no name and lives until the last rank has
 * unmapped it. */
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
      void); /* called now and then in a long wait, so that the MPI can finish what it has begun */
} Neutral;

#define NEUTRAL_PATH_BYTES 256

/* How the ranks get at the memory: the first rank makes it, every rank, the first one too, joins by
 * `path`, and when all have joined the first rank takes its name away. The first two return NULL or
 * what failed; errno says why. `cores` is how many cores all ranks have together. `ground` is a
 * file to make, which all nodes see, or NULL. */
typedef struct {
  int file;
  bool has_name; /* in the file system */
  char path[NEUTRAL_PATH_BYTES];
} NeutralName;
const char* neutral_make(NeutralName* name, const char* ground, int ranks, int samples);
const char* neutral_join(Neutral* neutral, const char* path, int rank, int ranks, int cores,
                         int samples);
void neutral_unname(const NeutralName* name);
/* From now on who waits sleeps; at all ranks alike, before the first meeting. */
void neutral_sleep(Neutral* neutral);
void neutral_leave(Neutral* neutral);

/* All ranks have arrived. Returns the start of what follows, in ticks. */
uint64_t neutral_meet(Neutral* neutral);
/* The same, and waits until the start has come. False where this rank was too late for it. */
bool neutral_start(Neutral* neutral, uint64_t* start);

/* How long a cache line takes from one core to another, in nanoseconds: half of a round trip
 * between the first two ranks, which get it. All ranks call it. False, at all of them, where those
 * two may share a core. */
bool neutral_hand_over(Neutral* neutral, double* nanoseconds);

/* The first rank says how many operations a cell has; the others read it after a meeting that came
 * later. */
void neutral_set_end(Neutral* neutral, int operations);
int neutral_end(const Neutral* neutral);

/* This rank is about to enter operation `number`; whether all ranks have been. Numbers grow. */
void neutral_enter(const Neutral* neutral, uint32_t number);
bool neutral_all_entered(const Neutral* neutral, uint32_t number);

/* This rank's time for a sample in ticks, or NEUTRAL_NO_SAMPLE; read by the first rank after a
 * meeting. */
#define NEUTRAL_NO_SAMPLE UINT64_MAX
void neutral_note(Neutral* neutral, int sample, uint64_t ticks);
/* The largest over ranks; NEUTRAL_NO_SAMPLE if any rank has none. */
uint64_t neutral_largest(const Neutral* neutral, int sample);

#endif
