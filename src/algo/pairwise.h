// V-collectives over several nodes in which only the two ends of a part know its length: gather,
// scatter and alltoall. (In an allgather and a reduce_scatter all ranks know all lengths, and any
// algorithm serves.)
//
// No rank may do anything that depends on a length that it does not know, and asking for it would
// take a delay of the links. So between nodes every part goes directly from its owner's buffer to
// its reader's, in a message of its own, whose length both ends know. Within each node the ranks
// agree on lengths in their shared memory and exchange their parts there. These are two programs:
//
//   between_nodes  every part for another node: out of the reader <- in of the owner
//   within_nodes   every part for the same node, by one_hand_over (parts.h) of the node's ranks;
//                  also an allgather, by which the node's ranks tell each other their lengths
//   both           one plan after the other: the whole collective, for checks, and for calls in
//                  which every part is a message, as if each rank were a node
//
// When: the host MPI's own v-collectives do the same between nodes. Short parts of an alltoall
// could share a message of each pair of nodes, but the leaders would have to know which are short.
// Cost: one delay. A rank sends and receives (p - k) m bytes in p - k messages if its node has k of
// the p ranks, and (k - 1) m bytes through the slots.
// Restrictions: between_nodes is to be staged for two buffers (lower.h), because a part may arrive
// in `out` while another leaves from `in`.
// Source: MPI 4.1, section 6.8 (the lengths agree in pairs). Pure functions, for any thread.
#pragma once

#include "placement/nodes.h"
#include "plan/plan.h"

namespace tutti::algo {

enum class Pairs : uint8_t { between_nodes, within_nodes, both };

plan::Plan pairwise(Pairs pairs, plan::Collective collective, int ranks, int root,
                    const placement::Nodes& nodes);

}  // namespace tutti::algo
