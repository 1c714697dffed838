/* Counts the messages that each simulated rank has sent over SimGrid's SMPI, by the program, by
 * Tutti, or by SMPI's own collectives. Counting begins with the call of sim_count, which the first
 * rank makes before it initializes MPI; the other ranks run only after the first rank waits. There
 * is one count for all ranks, as long as the simulation lasts. */
#ifndef TUTTI_BENCH_SIM_COUNTS_H
#define TUTTI_BENCH_SIM_COUNTS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SimCounts SimCounts;

SimCounts* sim_count(void);
/* The messages sent so far by each of so many ranks. */
void sim_sent(const SimCounts* counts, size_t ranks, long* sent);

#ifdef __cplusplus
}
#endif

#endif
