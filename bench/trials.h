/* Trials: the kinds of a job measured by one table of Tutti's rules after another, in one job.
 *
 * A file lists them. Each trial begins with a line `trial COLLECTIVES`, as in `trial
 * bcast,allreduce`: only kinds of these collectives are measured in it. The lines up to the next
 * such line are the trial's table, in the grammar of tutti-run --table. Every rank reads the file
 * once. */
#ifndef TUTTI_BENCH_TRIALS_H
#define TUTTI_BENCH_TRIALS_H

#include "kinds.h"

typedef struct {
  bool collectives[BENCH_COLLECTIVES]; /* those that are measured */
  const char* rules;
} Trial;

typedef struct {
  Trial* trials;
  int count;
  char* text; /* the text of the file, to which the rules point */
} Trials;

/* False, and one line in `message`, if the file cannot be read or is none of trials. */
bool trials_read(Trials* trials, const char* file, char message[256]);
void trials_free(Trials* trials);

/* Lets the trial's table decide about MPI_COMM_WORLD. All ranks call it. NULL, or what failed. */
const char* trial_begin(const Trial* trial);

#endif
