// The hierarchical collectives, phase by phase: each writes the whole plan. Internal to src/algo;
// what they do, hierarchical.h.
#pragma once

#include "algo/hierarchy.h"

namespace tutti::algo {

// A request's algorithms and words, on any machine alike, so that a rule is refused when it is
// read.
void check_parts(const Request& request);

// A node's members, but not the root of a bcast where another of its node leads the rail: it has
// the data.
std::vector<int32_t> takers(const Hierarchy& nodes, int32_t node, int32_t leader, int32_t root);
// From `source` of the leader to the others.
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
