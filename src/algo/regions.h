// Lists of regions. A list names blocks of one rank, in an order. It says which blocks of a larger
// plan stand for one block of a part (compose.h). Values and pure functions, for any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "plan/plan.h"

namespace tutti::algo {

using Regions = std::vector<plan::Region>;

// Appends a region. It is merged with the last one if the two make one region; a region of no
// blocks is left out.
void append(Regions& regions, const plan::Region& region);
// Appends blocks from .. from + count - 1 of a list.
void append_slice(Regions& regions, const Regions& list, int32_t from, int32_t count);
int32_t blocks_of(const Regions& list);

// parts_of lists the blocks of some ranks' parts in a vector of one part per rank. The other two
// name these blocks in a buffer of a rank.
Regions parts_of(const std::vector<int32_t>& ranks);
void append_parts(Regions& regions, plan::Buffer buffer, int32_t rank, const Regions& parts);
Regions parts_in(plan::Buffer buffer, int32_t rank, const Regions& parts);

// Says where an item is in a buffer of one of the part's ranks: appends the item's blocks to
// `regions`.
using Locate = std::function<void(int32_t rank, int64_t item, Regions& regions)>;

// Cuts each list (there is one for each rank of the part) into this many items, in order and of
// sizes as equal as possible. The result refers to `lists`.
Locate cut(const std::vector<Regions>& lists, int32_t items);

}  // namespace tutti::algo
