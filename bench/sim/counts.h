/* How many messages each simulated rank has sent so far, over SimGrid's SMPI, whoever sent them for
 * it: the program, Tutti, or one of SMPI's own collectives. Counted from the call of sim_count on,
 * which the first rank makes before it begins MPI: the others run only once it waits. One object in
 * a simulation, of all ranks, for as long as the simulation lasts. */
#ifndef TUTTI_BENCH_SIM_COUNTS_H
#define TUTTI_BENCH_SIM_COUNTS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SimCounts SimCounts;

SimCounts* sim_count(void);
/* By rank, of so many ranks. */
void sim_sent(const SimCounts* counts, size_t ranks, long* sent);

#ifdef __cplusplus
}
#endif

#endif
