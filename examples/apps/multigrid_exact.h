/* A problem whose exact solution is known: f of a u - laplace(u) = f, and how far u is from it.
 *
 * The whole is divided among ranks as a Division says. A rank owns its Exact, for one number of
 * cells; one thread uses it. */
#ifndef MULTIGRID_EXACT_H
#define MULTIGRID_EXACT_H

#include <stdint.h>

#include "multigrid_cycle.h"

/* The ranks in each direction, and this rank's place among them. */
typedef struct {
  int dims[3], place[3], most; /* most: the largest of dims */
} Division;

/* Exact solution and f at a cell of level 0, by its place in the whole. */
typedef struct {
  double *wave[3], *second[3]; /* indexed by the cell's place in each direction */
  size_t size[3];
} Exact;

/* For the cells of level 0 of a system. Ends the job if memory does not suffice. */
Exact exact_make(const Division* division, const Level* level);
void exact_free(Exact* exact);

/* Writes f of level 0. */
void exact_fill(const Exact* exact, const Division* division, const Multigrid* system);

/* The largest difference of u of level 0 from the exact solution, over all ranks. Collective. */
double exact_error(const Exact* exact, const Division* division, const Multigrid* system);

/* This rank's part of a hash of all bits of u (hash.h). */
uint64_t exact_hash(const Exact* exact, const Division* division, const Level* level);

#endif
