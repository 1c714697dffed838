// Hierarchical collectives, for ranks on several nodes: leaders exchange between nodes, by one
// algorithm, what another collects within each node before and hands out after. Any built-in
// algorithms may be the two.
//
//   bcast, barrier, reduce, allreduce  a reduction within nodes to their leaders, the collective
//   among leaders, a broadcast
//                                      within nodes, as far as there is need of each
//   allreduce by dissemination         an allreduce within nodes; in each step a leader takes in
//   what comes, and all members
//                                      combine it (HMPI, section 2.5)
//   gather, scatter                    all parts of a node go at once, from leader to leader
//   allgather, reduce_scatter          the same, with a broadcast, or a reduction of the whole
//   vector, within nodes alltoall                           what a node has for another is one
//   message; what stays is not handed to the leader scan, exscan                       a scan
//   within nodes, and an exscan of what nodes combine to. Where nodes are no runs of
//                                      ranks, of runs: docs/decisions/scans-over-scattered-nodes.md
//
// With `host` in the place of the algorithm between nodes leaders exchange by the host MPI's own
// collective, which is no plan (by_host.h).
//
// A transfer between two nodes is one message. With `flat`, `direct` or `all_read_all` between n
// nodes messages wait for no others (one delay; two for an allreduce or barrier by `flat`), and
// trees send the least: n - 1, twice that for an allreduce or barrier. docs/algorithms.md has the
// counts of all, and plan/inter_node_traffic.h takes them. `leaders=K` divides vectors and parts
// among K leaders a node, each with counterparts of its own: K times the messages, each of a K-th
// of the bytes, by K ranks at once. When: more than one rank a node. With one, and where no nodes
// are known, it is the algorithm between nodes over all ranks; on one node whose levels are known,
// the one within. Cost: that of the one within, in ranks of a node, and that of the one between, in
// nodes. Restrictions: what both bear; rank order is kept where nodes are runs of neighbouring
// ranks and both keep it. Source: HMPI, sections 2.5 and 2.6; MPICH2, section 3; NUMACol, section 3
// (a leader leads on all its levels).
#pragma once

#include "algo/algo.h"

namespace tutti::algo {

plan::Plan hierarchical(const Request& request);

Serves hierarchical_serves(plan::Collective collective, const Form& form,
                           const placement::Levels& levels);

}  // namespace tutti::algo
