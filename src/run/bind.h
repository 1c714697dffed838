// The binding of a rank that its launcher left unbound: to a numa region (NUMACol's advice) or to a
// core.
//
// The ranks of a node are spread evenly, in order, over the cores that they may use. A rank is
// bound to its core, or to the numa region of its core. choose_units is a pure function; bind
// changes this process, before it becomes the program. One thread.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/options.h"
#include "topo/shape.h"

namespace tutti::run {

// A rank's number among the ranks of its node, from the launcher's environment variables.
struct LocalRank {
  int rank = 0;
  int ranks = 0;  // 0: unknown; then the ranks take one core after another
};
std::optional<LocalRank> local_rank();

// The processing units for a rank; `cores` is not empty. More ranks than cores share them.
std::vector<int> choose_units(BindChoice choice, LocalRank rank,
                              const std::vector<topo::NodeCore>& cores);

// Binds this process if nobody has bound it (is_bound), to none of the units in `kept`. Returns why
// it could not (only one rank of the job should print that); empty if all is well.
std::string bind(BindChoice choice, const std::set<int>& kept);

}  // namespace tutti::run
