// How many ranks of a binary tree are leaves, on a machine that is known. A pure function; any
// thread.
#pragma once

#include <cstdint>
#include <vector>

#include "model/machine.h"
#include "placement/levels.h"

namespace tutti::model {

// HMPI's equation (1) on such a machine: the leaves without congestion of a tree in the largest
// innermost group of the levels (in all ranks, if these are on one level), from the machine's b and
// B for vectors of `bytes` bytes. `levels` as in Question. The levels that the machine lacks are
// left out.
int32_t leaves_of(const Machine& machine, const std::vector<placement::SharedLevel>& levels,
                  int32_t ranks, double bytes);

}  // namespace tutti::model
