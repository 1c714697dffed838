/* The costs that two processes pay and threads do not: yields of a shared core, and the system's
 * copies.
 *
 * The processes are forked for each value (pair.h), so the caller has no other thread. One caller
 * at a time. Seconds, medians of many rounds; negative where the system does not permit it. */
#ifndef TUTTI_BENCH_PROCESS_COSTS_H
#define TUTTI_BENCH_PROCESS_COSTS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Measures the time from one rank's yield to the next turn of another on the same core. */
double process_yield(int core);
/* To read `bytes` bytes on `core`, which a process on `other` has just rewritten, by
 * process_vm_readv. */
double process_system_copy(int core, int other, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
