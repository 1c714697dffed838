/* The operations of a cell (collectives.h), each in the cell's form: blocking, non-blocking or
 * persistent (kinds.h).
 *
 * A cell in another form than blocking has one operation under way at most, in its `request`. One
 * thread uses it. A persistent operation is made when the call is opened, and it and the cell's
 * arrays live until the call is closed; cells on the same buffers may have one each, if they take
 * turns.
 *
 * Persistent collectives came with MPI 4.0. A program that is compiled for one MPI may run with an
 * older one of the same ABI, so that persistent functions are looked up by name when the program
 * runs. */
#ifndef TUTTI_BENCH_CALLS_H
#define TUTTI_BENCH_CALLS_H

#include "collectives.h"

/* Any function of MPI, before a cast to its true type. */
typedef void (*CallsFunction)(void);

/* The function of this name in the MPI that the program runs with, or in its interposer; NULL if
 * there is none. */
CallsFunction calls_find(const char* name);

/* True if the MPI that the program runs with has the function for this form of the collective. */
bool call_exists(BenchCollective collective, BenchForm form);

/* All ranks of the cell's communicator call both. The form exists. */
void call_open(Cell* cell);
void call_close(Cell* cell);

/* Start and completion of one operation. The first does all of a blocking one. */
void call_start(Cell* cell);
void call_finish(Cell* cell);

#endif
