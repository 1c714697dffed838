// Whether the ranks of a node have a core each, and what shape the part of the machine has that
// they run on, and what they share there. No MPI.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "topo/levels.h"
#include "topo/shape.h"

namespace tutti::mpi {

// The processors that one rank may run on, by the system's number.
inline constexpr size_t most_cores = 4096;
using CoreMask = std::bitset<most_cores>;

// Of this process; empty where the system does not tell.
CoreMask usable_cores();

// Which running kernel this is, in a word: containers of one machine have the same, whatever they
// are named, and share its cores. 0 where the system does not tell.
uint64_t kernel_identity();

// True where some ranks must share a core: the ranks that are confined to a set of cores outnumber
// it. All ranks together are confined to the union of their masks.
bool oversubscribed(const std::vector<CoreMask>& masks);

// Of the processors that any of the ranks may run on; or `given` (TUTTI_TOPOLOGY) where that is a
// shape's text.
topo::Shape shape_of(const std::vector<CoreMask>& masks, const std::string& given);

// What ranks with these masks share, on the machine or on the one of `given` as above. One level
// where all have one mask.
topo::Levels levels_of(const std::vector<CoreMask>& masks, const std::string& given);

}  // namespace tutti::mpi
