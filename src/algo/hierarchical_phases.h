// The hierarchical collectives, phase by phase; hierarchical.h says what they do. Each function
// writes its transfers into the plan of `nodes`, which the caller owns. Internal to src/algo; one
// thread per Hierarchy.
#pragma once

#include "algo/hierarchy.h"

namespace tutti::algo {

// Refuses algorithms and words that cannot serve the request. The levels play no part in it, so
// that a bad rule is refused when it is read.
void check_parts(const Request& request);

// A node's members that a bcast from the leader serves: all but the root, which has the data
// already, unless the root is the leader.
std::vector<int32_t> takers(const Hierarchy& nodes, int32_t node, int32_t leader, int32_t root);
// A bcast within a node, from `source` at the leader to the other ranks.
void hand_out(Hierarchy& nodes, const std::vector<int32_t>& ranks, int32_t leader, int32_t rail,
              const plan::Region& source);

void hierarchical_bcast(Hierarchy& nodes);
void hierarchical_reduce(Hierarchy& nodes);
void hierarchical_allreduce(Hierarchy& nodes);      // and the barrier
void hierarchical_dissemination(Hierarchy& nodes);  // the allreduce
void hierarchical_gather(Hierarchy& nodes);
void hierarchical_scatter(Hierarchy& nodes);
void hierarchical_allgather(Hierarchy& nodes);
void hierarchical_alltoall(Hierarchy& nodes);
void hierarchical_reduce_scatter(Hierarchy& nodes);
void hierarchical_scan(Hierarchy& nodes);  // and the exscan

}  // namespace tutti::algo
