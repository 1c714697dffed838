// The levels of the ranks of this node, found by one of them for all.
#pragma once

#include <vector>

#include "placement/cores.h"
#include "placement/levels.h"

namespace tutti::team {

// The levels of the ranks of this node by their places. Ranks that nobody bound are where they ran,
// unless TUTTI_REPRODUCIBLE asks for the same bits in other runs, in which they may run elsewhere.
// One rank of the node calls this and tells the others, because the kernel may show each process
// something else.
placement::Levels levels_here(const std::vector<placement::Place>& places);
// Notes for a report the levels that the ranks may share by their places, where none are known.
void record_levels(const placement::Levels& known, const std::vector<placement::Place>& places);

}  // namespace tutti::team
