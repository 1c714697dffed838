// What ranks share that are bound to processing units: of processes and of threads alike.
#pragma once

#include <string>
#include <vector>

#include "topo/levels.h"
#include "topo/shape.h"

namespace tutti::topo {

// TUTTI_TOPOLOGY as a shape; empty where it is none: a file, or a description with more than levels
// and counts.
Shape given_shape(const std::string& given);

// The levels of ranks that may run on these processing units each, on this machine or on one of the
// given shape. One level where all may run on the same ones. `system` is where the kernel shows its
// devices.
Levels levels_of_bound(const std::vector<std::vector<int>>& bindings, const std::string& given,
                       const std::string& system = "/sys/devices/system");

}  // namespace tutti::topo
