// Hierarchical collectives whose leaders exchange by the host MPI's own collective:
// `hierarchical+host[+WITHIN]`.
//
// The host's collective is not made of transfers, so no plan covers the whole operation. Instead
// there are two plans, one for what the ranks of each node do before the host's collective and one
// for what they do after it, and a list of the nodes' leaders:
//
//   barrier, allreduce  before: a reduce within each node to its leader
//                       after:  a bcast within each node from its leader
//   reduce              before: a reduce within each node to its leader
//                       after:  a copy to the root from its node's leader, if they differ
//   bcast               before: a copy from the root to its node's leader, if they differ
//                       after:  a bcast within each node from its leader
//
// In both plans a leader's `out` is the vector that it passes to the host and gets back. Where the
// collective gives a leader no `out`, the caller who runs the phases lends it one. The only rank of
// a node passes its `in` (in a bcast `in` and `out` are one buffer). Leaders are the first ranks of
// their nodes, for all roots, so that one communicator serves all calls.
//
// Restrictions: as hierarchical.h. Pure functions, for any thread.
// docs/decisions/the-hosts-collective-among-leaders.md
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "placement/levels.h"

namespace tutti::algo {

bool host_serves(plan::Collective collective);
// True if the spec names the host's collective between nodes.
bool by_host(std::string_view spec);

// The leaders of the nodes, in the order of the nodes. If the levels have no nodes, each rank is a
// node.
std::vector<int32_t> leaders(const placement::Levels& levels, int ranks);

// `standing_in`: both phases, with a built-in algorithm in place of the host's collective. This is
// a complete plan, so that the checks can run on it.
enum class Phase : uint8_t { before, after, standing_in };
// Throws as generate().
plan::Plan phase_by_host(Phase phase, plan::Collective collective, std::string_view spec, int ranks,
                         int root, const placement::Levels& levels);

}  // namespace tutti::algo
