// Whether the ranks of a node have a core each. Pure functions; no MPI.
#pragma once

#include <bitset>
#include <vector>

namespace tutti::mpi {

// The processors that one rank may run on, by the system's number.
inline constexpr size_t most_cores = 4096;
using CoreMask = std::bitset<most_cores>;

// Of this process; empty where the system does not tell.
CoreMask usable_cores();

// True where some ranks must share a core: the ranks that are confined to a set of cores outnumber it. All ranks
// together are confined to the union of their masks.
bool oversubscribed(const std::vector<CoreMask>& masks);

}  // namespace tutti::mpi
