// The cores that the ranks of a node may run on: whether each rank has one of its own, and the
// shape and the levels of the part of the machine that they run on.
//
// Values and functions without state; any thread. usable_cores, present_place and kernel_identity
// ask the system, and shape_of and levels_of read the kernel's files.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "placement/levels.h"
#include "topo/shape.h"

namespace tutti::placement {

// The processors that one rank may run on, as the system numbers them.
inline constexpr size_t most_cores = 4096;
using CoreMask = std::bitset<most_cores>;

// The processors that a process's first thread may run on, or the calling thread (0); empty if the
// system does not report them.
CoreMask usable_cores(int64_t process = 0);

// The cores of a rank when it was asked: the processors that it may run on, and the one on which it
// ran (-1 if the system does not report it).
struct Place {
  CoreMask usable;
  int32_t present = -1;
};
Place present_place();  // the place of the calling thread
std::vector<CoreMask> usable_cores(const std::vector<Place>& places);

// The processors by which the ranks' levels are found. If all ranks ran on different ones, each
// rank has that one only; otherwise it has those that it may run on. The system seldom moves ranks
// that nobody bound, as long as each has a processor of its own. If it does, their levels are
// wrong, which costs time and nothing else.
std::vector<CoreMask> settled(const std::vector<Place>& places);

// A number for the running kernel. Containers of one machine have the same number, whatever their
// host names are, and they share the machine's cores. 0 if the system does not report it.
uint64_t kernel_identity();

// True if some ranks must share a core, because more ranks are confined to a set of cores than the
// set has. All ranks together are confined to the union of their masks.
bool oversubscribed(const std::vector<CoreMask>& masks);
// The same for one rank: only the sets of cores to which it is confined itself count.
bool shares_core(const std::vector<CoreMask>& masks, size_t rank);

// The shape of the processors that any of the ranks may run on, or the one that `given`
// (TUTTI_TOPOLOGY) describes if that is the text of a shape.
topo::Shape shape_of(const std::vector<CoreMask>& masks, const std::string& given);

// The levels of ranks with these masks, on this machine or on the one that `given` describes as
// above. The result is one level if all masks are equal.
Levels levels_of(const std::vector<CoreMask>& masks, const std::string& given);

}  // namespace tutti::placement
