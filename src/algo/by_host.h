// Hierarchical collectives whose leaders exchange by the host MPI's own collective:
// `hierarchical+host[+WITHIN]`.
//
// What the host does between nodes is no transfer, so there is no plan of the whole. There are two,
// of what ranks of one node do before and after it, and a list of who leads:
//
//   barrier, allreduce  before: a reduce within nodes to their leaders; after: a bcast within nodes
//   from them reduce              the same before; after: from the leader of the root's node to the
//   root, where those are two bcast               before: from the root to the leader of its node,
//   where those are two; after: a bcast within nodes
//
// In both, a leader's `out` is the vector that it hands to the host and gets back; where the
// collective gives it none, whoever runs the phases lends it. A node's only rank hands over its
// `in` (in a bcast both are one). Leaders are the first ranks of their nodes, for all roots, so
// that one communicator serves all calls. Restrictions: as hierarchical.h. Pure functions; any
// thread. docs/decisions/the-hosts-collective-among-leaders.md
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "placement/levels.h"

namespace tutti::algo {

bool host_serves(plan::Collective collective);
// Whether a spec that generate() takes names the host's collective between nodes.
bool by_host(std::string_view spec);

// Who leads each node, in the order of the nodes. Where no level of nodes is known each rank is a
// node.
std::vector<int32_t> leaders(const placement::Levels& levels, int ranks);

// `standing_in`: both phases with a collective of ours in the host's place. A right plan, for the
// checks.
enum class Phase : uint8_t { before, after, standing_in };
// Throws as generate().
plan::Plan phase_by_host(Phase phase, plan::Collective collective, std::string_view spec, int ranks,
                         int root, const placement::Levels& levels);

}  // namespace tutti::algo
