// The levels that a communicator's ranks share. Algorithms use no other facts about the machine.
//
// A level (cluster, node, socket, numa region, shared cache, core) divides the ranks into groups.
// Levels are in order from the outside in, and each divides the groups of the one before. They come
// from the ranks' actual bindings, or from where they run (cores.h). A level on which some rank may
// be in several groups is unknown; it is left out, with all levels inside it. A level that adds
// nothing is left out too: one that has a single group, a group for each rank, or the same groups
// as the level outside. If sockets have the same groups as numa regions, the level is called numa.
// Without any level, all ranks count as being on one. Whether that is known, or whether levels may
// be missing because they are unknown, the levels say beside their groups. Levels inside a socket
// whose caches are not smaller than its numa regions count as known: one link serves all its cores.
//
// Values, constant once made; any thread. Every function is pure except levels_of_bound, which
// reads the kernel's files. Source: HMPI, section 2.1; NUMACol, section 3.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "placement/periodic_row.h"
#include "topo/machine_units.h"

namespace tutti::placement {

// A level of the machine, and the ranks that are together on it.
struct SharedLevel {
  std::string name;      // cluster, node, socket, numa, cache or core
  PeriodicRow group_of;  // indexed by rank; groups are numbered in the order of their first ranks
  int32_t groups = 1;

  bool operator==(const SharedLevel&) const = default;
};

class Levels {
 public:
  Levels() = default;  // one level, any number of ranks
  // Takes levels as they were found, from the outside in, with any numbers of groups. Drops levels
  // that add nothing, and makes each level divide the one before. They are known if they go down to
  // the cores, and the ranks are on several of these.
  explicit Levels(std::vector<SharedLevel> found);

  // Returns the levels from the outside in.
  const std::vector<SharedLevel>& all() const { return levels_; }
  bool one_level() const { return levels_.empty(); }
  // True if no level is missing because it is unknown, or if one link serves all ranks.
  bool known() const { return known_; }
  // The number of groups on the level of this name (the innermost of several); 1 if there is none.
  int32_t groups(std::string_view name) const;
  // True if every group is a run of neighbouring ranks, so that going by groups keeps rank order.
  bool in_rank_order() const;
  // The levels as a text: NAME:GROUPS for each level with spaces between, GROUPS as in
  // placement/periodic_row.h. Equal for equal levels, empty for one level. Serves as a key for what
  // is made from the levels.
  const std::string& contents() const { return contents_; }
  // The contents, and the word `known` at the end if the levels are.
  std::string text() const;
  // The levels of some of the ranks, in the order given.
  Levels of(const std::vector<int>& ranks) const;

  bool operator==(const Levels& other) const {
    return levels_ == other.levels_ && known_ == other.known_;
  }

 private:
  Levels(std::vector<SharedLevel> found, bool known);
  friend Levels read_levels(std::string_view text);
  friend Levels levels_of(const std::vector<std::vector<int>>& bindings,
                          const topo::MachineUnits& units);

  std::vector<SharedLevel> levels_;
  bool known_ = false;
  std::string contents_;
};

// The levels of ranks, each of which may run on the processing units of its entry in `bindings`.
// The result is one level if a rank has no units, or a unit that is not in the table.
Levels levels_of(const std::vector<std::vector<int>>& bindings, const topo::MachineUnits& units);

// The levels of such ranks on this machine, or on the one that `given` describes (TUTTI_TOPOLOGY)
// if that is the text of a shape. The result is one level if all ranks may run on the same units;
// it is known if one link serves all these. `system` is where the kernel shows its devices.
Levels levels_of_bound(const std::vector<std::vector<int>>& bindings, const std::string& given,
                       const std::string& system = "/sys/devices/system");

// Reads what `text()` or `contents()` writes. Throws Error(invalid_argument) if it is malformed.
Levels read_levels(std::string_view text);

}  // namespace tutti::placement
