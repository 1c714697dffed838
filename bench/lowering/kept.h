// The memory that a rank keeps for the world and for one communicator of all its ranks, measured
// without an MPI and without other ranks.
//
// This includes everything that Tutti's set-up makes and keeps in private memory: where the world's
// ranks are, the group with its nodes and levels, the node of each peer of a message, and the
// programs of some collectives. It excludes shared memory (an area for each rank of the node) and
// the host MPI's memory for its communicators.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "plan/collective.h"

namespace tutti::bench {

// Consecutive ranks on the same node (blocks), or on consecutive nodes (cyclic).
enum class Dealing { blocks, cyclic };
std::string_view name(Dealing dealing);

// All in bytes.
struct Kept {
  size_t world = 0;         // where the ranks of MPI_COMM_WORLD are
  size_t communicator = 0;  // memory that a communicator adds
  size_t programs = 0;      // memory that a program of each of the collectives adds
  size_t most = 0;          // the most at one time while all this is made
  size_t all() const { return world + communicator + programs; }
};

// Measures a rank that leads its node. Nodes have two NUMA regions if `cores` is even.
Kept kept(int nodes, int cores, Dealing dealing, const std::vector<plan::Collective>& collectives);

}  // namespace tutti::bench
