/* One call of MPI for each collective and form, with the buffers and counts of a cell
 * (collectives.h). The functions belong to nobody and may be called by any rank's thread; a request
 * belongs to the caller, who completes it.
 *
 * Persistent collectives came with MPI 4.0. A program that is compiled for one MPI may run with an
 * older one of the same ABI, so that persistent functions are looked up by name when the program
 * runs. */
#ifndef TUTTI_BENCH_CALLS_H
#define TUTTI_BENCH_CALLS_H

#include "collectives.h"

extern void (*const blocking_calls[BENCH_COLLECTIVES])(const Cell* cell);

/* Each starts an operation, which MPI_Wait completes. */
extern void (*const nonblocking_calls[BENCH_COLLECTIVES])(const Cell* cell, MPI_Request* request);

/* Any function of MPI, before a cast to its true type. */
typedef void (*CallsFunction)(void);

/* The function of this name in the MPI that the program runs with, or in its interposer; NULL if
 * there is none. */
CallsFunction calls_find(const char* name);

/* The function that makes a persistent collective, such as MPI_Bcast_init. */
const char* calls_persistent_name(BenchCollective collective);

/* Makes a persistent operation by that function, which exists. MPI_Start starts the operation. The
 * cell must live as long. */
void calls_make_persistent(const Cell* cell, MPI_Request* request);

#endif
