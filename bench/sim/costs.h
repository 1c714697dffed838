/* What a message costs the ranks and the adapters of a simulated machine, besides the links that carry it.
 *
 * A rank is busy for an overhead with every message that it sends, and with every short one that it receives: one within
 * its node, another between nodes. A node's messages to others leave by one adapter, one after the other: each holds it
 * for a gap, and who comes meanwhile waits. Set once by the first rank, before the others send; it holds for all of the
 * simulation, and lives as long. */
#ifndef TUTTI_BENCH_SIM_COSTS_H
#define TUTTI_BENCH_SIM_COSTS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  double overhead_within, overhead_between, gap; /* seconds */
} SimCosts;

void sim_charge(SimCosts costs);

#ifdef __cplusplus
}
#endif

#endif
