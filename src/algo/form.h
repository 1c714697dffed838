// Reads an algorithm's spec: its name and the parameters that follow. Internal to src/algo. Pure
// functions, for any thread.
#pragma once

#include <string_view>

#include "algo/algo.h"

namespace tutti::algo {

// The algorithm that a spec begins with. Throws Error(invalid_argument) naming all algorithms.
const Algorithm& named(std::string_view spec);

// The word that asks for the host MPI's own collective between nodes (by_host.h). It is no
// algorithm of the table.
inline constexpr std::string_view host_word = "host";

bool serves(const Algorithm& algorithm, plan::Collective collective);

// Reads "name:word:word", or "name:word+SPEC+SPEC" if the algorithm is composed of others. Throws
// Error(invalid_argument) naming the word at fault and the words that the algorithm takes.
Form form_of(const Algorithm& algorithm, std::string_view spec, int ranks);

}  // namespace tutti::algo
