// Where tutti-run binds a rank that its launcher left unbound: to a numa region (NUMACol's advice)
// or to a core.
//
// The ranks of a node are dealt over the cores that they may run on, in order and evenly; a rank's
// place is its core, or the numa region of that core. Choosing is a pure function; a process binds
// itself before it becomes the program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/options.h"
#include "topo/shape.h"

namespace tutti::run {

// A rank among those of its node, as its launcher tells it.
struct LocalRank {
  int rank = 0;
  int ranks = 0;  // 0: not told; then the ranks take one core after another
};
std::optional<LocalRank> local_rank();

// The processing units for a rank; `cores` is not empty. More ranks than cores share them.
std::vector<int> choose_units(BindChoice choice, LocalRank rank,
                              const std::vector<topo::NodeCore>& cores);

// Binds this process where it may run on more than its place and its parent may run on the same:
// then nobody has bound it. Why it could not is for one rank to say; empty where there is nothing
// to say.
std::string bind(BindChoice choice);

}  // namespace tutti::run
