/* Computation of a given duration between the start of an operation and its completion, and between
 * operations.
 *
 * There are two loops: one bound by arithmetic, whose data stays in registers, and one bound by
 * memory, which goes on through a large array. Each rank has one Work, used by one thread; its
 * array lives until it is closed. */
#ifndef TUTTI_BENCH_WORK_H
#define TUTTI_BENCH_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"

typedef enum { WORK_NONE, WORK_ARITHMETIC, WORK_MEMORY, WORK_LOOPS } WorkLoop;
extern const char* const work_loop_names[WORK_LOOPS];

/* The disturbance and the end of the last computation. */
typedef struct {
  uint64_t others; /* nanoseconds of it in which other threads had the core: servers, processes, the
                      kernel's threads. Interrupts are not among them. */
  uint64_t ended;  /* when it ended, in ticks; 0: there was none */
} WorkMet;

typedef struct {
  double* array;
  size_t next;                        /* where the memory loop goes on */
  double numbers[8];                  /* the numbers of the arithmetic loop */
  double turns_each_tick[WORK_LOOPS]; /* how fast the loops are */
  WorkMet met;
} Work;

/* False without memory. */
bool work_open(Work* work);
void work_close(Work* work);

/* Measures how fast a loop is. All ranks do it at the same time, because they share the memory's
 * bandwidth. */
void work_measure(Work* work, WorkLoop loop, const BenchClock* clock);

/* The number of turns that take so long. */
uint64_t work_turns(const Work* work, WorkLoop loop, double microseconds, const BenchClock* clock);

/* Computes, and notes in `met` what it met. */
void work_run(Work* work, WorkLoop loop, uint64_t turns, const BenchClock* clock);

/* A computation beside operations; WORK_NONE: there is none. */
typedef struct {
  WorkLoop loop;
  uint64_t turns;
  double microseconds; /* the time of these turns */
  bool alone;          /* only the computation, without any operation */
} Computation;

/* Computes, if there is a computation. */
void work_beside(Work* work, const Computation* beside, const BenchClock* clock);

/* Memory of a rank that it streams over between operations, as a computing program does, so that
 * the MPI's code and data leave the caches. */
typedef struct {
  uint64_t* words;
  size_t count;
} Stream;

/* False without memory. With 0 bytes there is nothing to stream over. */
bool stream_open(Stream* stream, size_t bytes);
void stream_close(Stream* stream);
/* Reads and writes every word. */
void stream_over(const Stream* stream);

#endif
