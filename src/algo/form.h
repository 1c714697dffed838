// Reads what stands behind an algorithm's name. Internal to src/algo.
#pragma once

#include <string_view>

#include "algo/algo.h"

namespace tutti::algo {

// The algorithm that a spec begins with. Throws Error(invalid_argument) naming all there are.
const Algorithm& named(std::string_view spec);

// What stands between nodes where the host MPI's own collective is to (by_host.h); no algorithm of
// the table.
inline constexpr std::string_view host_word = "host";

bool serves(const Algorithm& algorithm, plan::Collective collective);

// Of "name:word:word", and of "name:word+SPEC+SPEC" where it is made of others. Throws
// Error(invalid_argument) naming the word at fault and what the algorithm takes.
Form form_of(const Algorithm& algorithm, std::string_view spec, int ranks);

}  // namespace tutti::algo
