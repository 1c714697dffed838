// What a rank keeps of the world and of one communicator of all its ranks, without an MPI and other
// ranks.
//
// Everything that Tutti's set-up makes and keeps in memory of its own is there: where the world's
// ranks are, the group with its nodes and levels, which node each peer of a message is on, and the
// programs of some collectives. What is not: shared memory (an area for each rank of the node) and
// what the host MPI keeps for its communicators.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "plan/collective.h"

namespace tutti::bench {

// Rank after rank on a node, or each on the next.
enum class Dealing { blocks, cyclic };
std::string_view name(Dealing dealing);

// Bytes.
struct Kept {
  size_t world = 0;         // where the ranks of MPI_COMM_WORLD are
  size_t communicator = 0;  // what a communicator adds
  size_t programs = 0;      // what a program of each of the collectives adds
  size_t most = 0;          // at one time while all this is made
  size_t all() const { return world + communicator + programs; }
};

// Of a rank that leads its node. A cluster's nodes have two numa regions where `cores` is even.
Kept kept(int nodes, int cores, Dealing dealing, const std::vector<plan::Collective>& collectives);

}  // namespace tutti::bench
