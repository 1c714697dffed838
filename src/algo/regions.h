// Lists of regions: blocks of one rank in an order, where a plan's own blocks are many of a larger
// plan's.
//
// Pure functions of values.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "plan/plan.h"

namespace tutti::algo {

using Regions = std::vector<plan::Region>;

// Puts a region behind the others, as one with the last where they make a run. Of no blocks:
// nothing.
void append(Regions& regions, const plan::Region& region);
// Blocks from .. from + count - 1 of a list.
void append_slice(Regions& regions, const Regions& list, int32_t from, int32_t count);
int32_t blocks_of(const Regions& list);

// The parts of some ranks, to be placed in a buffer of any rank.
Regions parts_of(const std::vector<int32_t>& ranks);
void append_parts(Regions& regions, plan::Buffer buffer, int32_t rank, const Regions& parts);
Regions parts_in(plan::Buffer buffer, int32_t rank, const Regions& parts);

// Where an item lies in a buffer of one of the part's ranks: appends as many blocks as the item
// has.
using Lies = std::function<void(int32_t rank, int64_t item, Regions& regions)>;

// Lists by the part's rank, each cut into so many items in order, as even as can be. Keeps a
// reference.
Lies cut(const std::vector<Regions>& lists, int32_t items);

}  // namespace tutti::algo
