/* What a message costs the ranks and the adapters of a simulated machine, besides the links that
 * carry it.
 *
 * A rank is busy for an overhead with every message that it sends, and with every short one that it
 * receives: one within its node, another between nodes. A node's messages to others leave by one
 * adapter, one after the other: each holds it for a gap, or for as long as a short one's bytes take
 * where that is longer, and who comes meanwhile waits. (Without that, short messages, which do not
 * wait for their receivers, would all be on a link at once, and the first of many arrive with the
 * last.) Set once by the first rank, before the others send; it holds for all of the simulation,
 * and lives as long. */
#ifndef TUTTI_BENCH_SIM_COSTS_H
#define TUTTI_BENCH_SIM_COSTS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  double overhead_within, overhead_between, gap; /* seconds */
  double bytes_per_second;                       /* of an adapter */
  size_t short_bytes; /* messages below it leave before their receivers ask for them */
} SimCosts;

void sim_charge(SimCosts costs);

#ifdef __cplusplus
}
#endif

#endif
