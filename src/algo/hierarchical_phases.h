// The hierarchical collectives, phase by phase: each writes the whole plan. Internal to src/algo; what they do, hierarchical.h.
#pragma once

#include "algo/hierarchy.h"

namespace tutti::algo {

void hierarchical_bcast(Hierarchy& nodes);
void hierarchical_reduce(Hierarchy& nodes);
void hierarchical_allreduce(Hierarchy& nodes);  // and the barrier
void hierarchical_dissemination(Hierarchy& nodes);  // the allreduce
void hierarchical_gather(Hierarchy& nodes);
void hierarchical_scatter(Hierarchy& nodes);
void hierarchical_allgather(Hierarchy& nodes);
void hierarchical_alltoall(Hierarchy& nodes);
void hierarchical_reduce_scatter(Hierarchy& nodes);
void hierarchical_scan(Hierarchy& nodes);  // and the exscan

}  // namespace tutti::algo
