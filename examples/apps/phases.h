/* The applications' output: what each ran, and its times.
 *
 * A program counts the seconds of its phases at each rank. At its end all ranks call
 * phases_print, and rank 0 writes one line for each phase, with the largest time over the ranks:
 *
 *   phase NAME communication|computation|setup SECONDS
 *   least NAME SECONDS
 *   communication SECONDS
 *   whole SECONDS
 *   answer NAME VALUE
 *   tolerance NAME RELATIVE
 *   # ...
 *
 * `least` has the smallest time over the ranks: of a collective, about what the rank that came last
 * was in it, so without waiting for others. `communication` is the time of all phases of that kind,
 * added up at each rank, the largest over the ranks: the phases' own largest times may be of
 * different ranks, so that their sum may exceed the whole. `whole` has the time of the timed part,
 * the largest over the ranks. An answer is the same in every run with as many ranks; one whose last
 * digits depend on the order of a reduction comes after a line that tells how far two runs may
 * differ, relative to the value. Lines that begin with # are for people.
 *
 * `tutti bench apps` reads these lines. Everything here is plain C and MPI. */
#ifndef PHASES_H
#define PHASES_H

#include <mpi.h>
#include <stdio.h>

typedef enum { PHASE_COMMUNICATION, PHASE_COMPUTATION, PHASE_SETUP } PhaseKind;

typedef struct {
  const char* name; /* one word */
  PhaseKind kind;
  double seconds; /* the time of this rank so far */
  double began;   /* while the phase is under way */
} Phase;

static inline void phase_begin(Phase* phase) { phase->began = MPI_Wtime(); }
static inline void phase_end(Phase* phase) { phase->seconds += MPI_Wtime() - phase->began; }

/* Reduces all ranks' values at rank 0. */
static inline double phases_over_ranks(double mine, MPI_Op op, MPI_Comm comm) {
  double result = 0;
  MPI_Reduce(&mine, &result, 1, MPI_DOUBLE, op, 0, comm);
  return result;
}

/* All ranks call it, each with its own times of the same phases. */
static inline void phases_print(const Phase* phases, int count, double whole, MPI_Comm comm) {
  static const char* const kinds[] = {"communication", "computation", "setup"};
  double communication = 0;
  int rank;
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i < count; ++i) {
    const double most = phases_over_ranks(phases[i].seconds, MPI_MAX, comm);
    const double least = phases_over_ranks(phases[i].seconds, MPI_MIN, comm);
    if (phases[i].kind == PHASE_COMMUNICATION) communication += phases[i].seconds;
    if (rank == 0)
      printf("phase %s %s %.9f\nleast %s %.9f\n", phases[i].name, kinds[phases[i].kind], most,
             phases[i].name, least);
  }
  communication = phases_over_ranks(communication, MPI_MAX, comm);
  whole = phases_over_ranks(whole, MPI_MAX, comm);
  if (rank == 0) printf("communication %.9f\nwhole %.9f\n", communication, whole);
}

/* Rank 0 calls these. A tolerance of 0 asks for the same bits. */
static inline void answer_print(const char* name, double value, double tolerance) {
  if (tolerance > 0) printf("tolerance %s %g\n", name, tolerance);
  printf("answer %s %.17g\n", name, value);
}

#endif
