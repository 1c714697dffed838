// Hierarchical collectives, for ranks on several nodes. Each node has a leader. One algorithm runs
// among the leaders, between nodes; another runs within each node, before and after it. Both may be
// any built-in algorithms.
//
//   bcast, barrier,        A reduce within each node to its leader, the collective among leaders, a
//   reduce, allreduce      bcast within each node; phases that the collective does not need are
//                          left out.
//   allreduce by           An allreduce within each node; then in each step a leader receives a
//   dissemination          vector and all members of its node combine it (HMPI, section 2.5).
//   gather, scatter        All parts of a node travel in one message, from leader to leader.
//   allgather              A gather within each node, an allgather among leaders, a bcast within
//                          each node.
//   reduce_scatter         A reduce of the whole vector within each node, a reduce_scatter among
//                          leaders, a scatter within each node.
//   alltoall               All that a node has for another is one message. Parts for ranks of the
//                          same node bypass the leader.
//   scan, exscan           A scan within each node, and an exscan of the nodes' totals. If nodes
//                          are not runs of ranks, runs take the nodes' place:
//                          docs/decisions/scans-over-scattered-nodes.md.
//
// With `host` in place of the algorithm between nodes, leaders exchange by the host MPI's own
// collective, which is not a plan (by_host.h).
//
// A transfer between two nodes is one message. With `flat`, `direct` or `all_read_all` between n
// nodes no message waits for another (one delay; two for an allreduce or barrier by `flat`). Trees
// send the fewest messages: n - 1, twice that for an allreduce or barrier. docs/algorithms.md has
// all counts, and plan/inter_node_traffic.h takes them. `leaders=K` divides vectors and parts among
// K leaders per node: K times the messages, each with a K-th of the bytes, sent by K ranks at once.
// When: more than one rank per node. With one rank per node, or if no nodes are known, the
// algorithm between nodes runs over all ranks; on one node whose levels are known, the one within.
// Cost: that of the algorithm within, over the ranks of a node, plus that of the one between, over
// the nodes.
// Restrictions: those of both algorithms; rank order is kept if nodes are runs of consecutive ranks
// and both algorithms keep it.
// Source: HMPI, sections 2.5 and 2.6; MPICH2, section 3; NUMACol, section 3 (a leader leads on all
// its levels).
#pragma once

#include "algo/algo.h"

namespace tutti::algo {

plan::Plan hierarchical(const Request& request);

Serves hierarchical_serves(plan::Collective collective, const Form& form,
                           const placement::Levels& levels);

}  // namespace tutti::algo
