// Reads what stands behind an algorithm's name. Internal to src/algo.
#pragma once

#include <string_view>

#include "algo/algo.h"

namespace tutti::algo {

// Of "name:word:word". Throws Error(invalid_argument) naming the word at fault and what the algorithm takes.
Form form_of(const Algorithm& algorithm, std::string_view spec, int ranks);

}  // namespace tutti::algo
