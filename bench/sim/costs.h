/* The costs of a message for the ranks and the adapters of a simulated machine, in addition to its
 * time on the links, and the bandwidth of a single message within a node.
 *
 * A rank is busy for an overhead with every message that it sends and with every short message that
 * it receives. The overhead differs between messages within a node and between nodes. A node's
 * messages to other nodes leave by one adapter, one after another. Each occupies the adapter for a
 * gap, or for the transfer time of a short message's bytes if that is longer; later messages wait.
 * (Without this, short messages, which do not wait for their receivers, would all share the link at
 * the same time, and the first of many would arrive together with the last.) The first rank sets
 * the costs once, before the others send; they hold for the whole simulation. */
#ifndef TUTTI_BENCH_SIM_COSTS_H
#define TUTTI_BENCH_SIM_COSTS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  double overhead_within, overhead_between, gap; /* seconds */
  double bytes_per_second;                       /* the bandwidth of an adapter */
  size_t short_bytes; /* shorter messages leave before their receivers ask for them */
} SimCosts;

void sim_charge(SimCosts costs);

#ifdef __cplusplus
}
#endif

#endif
