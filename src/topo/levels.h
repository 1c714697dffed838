// What a communicator's ranks share, level by level: all that algorithms know of the machine.
//
// A floor says for one level (socket, numa region, shared cache, core) which ranks are together;
// floors stand from the outside in, each divides the groups of the one before. They come from the
// ranks' actual bindings. A floor on which some rank is in several groups at once (an unbound rank)
// is unknown and left out, with all further inside, and so is one that says nothing: a single
// group, every rank alone, the same groups as outside. Where sockets are numa regions, the floor is
// numa. Nothing known is one level: no floors.
//
// Where processing units lie comes from a tree (hwloc), from a shape's text or from the kernel's
// files; the interposers take the latter two, because a program may have an hwloc of its own.
// Values, constant once made; any thread. Every function is pure but places_of_system. Source:
// HMPI, section 2.1; NUMACol, section 3.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/repeated.h"
#include "topo/shape.h"
#include "topo/tree.h"

namespace tutti::topo {

// On which floors ranks can be together; a rank's place on each is a number of its own. Sockets are
// outside numa regions, or inside where a region holds several; the other of the two then says what
// numa says.
inline constexpr std::array<std::string_view, 6> floor_names = {"socket",   "numa",     "socket",
                                                                "cache L3", "cache L2", "core"};
using Place = std::array<int32_t, floor_names.size()>;
// By processing unit, as the system counts them.
using Places = std::map<int, Place>;

Places places_of(const Tree& tree);
// The units of a shape's node are 0, 1, ... in the order of its cores; its caches count as L3.
Places places_of(const Shape& shape);
// `system` is where the kernel shows its devices. Units of which it says nothing are left out.
Places places_of_system(const std::vector<int>& processing_units,
                        const std::string& system = "/sys/devices/system");

struct Floor {
  std::string name;   // socket, numa, cache or core
  Repeated group_of;  // by rank; groups are numbered in the order of their first ranks
  int32_t groups = 1;

  bool operator==(const Floor&) const = default;
};

class Levels {
 public:
  Levels() = default;  // one level, any number of ranks
  // Floors as they were found, from the outside in; numbers of groups are free. Drops what says
  // nothing, and makes each floor divide the one before.
  explicit Levels(std::vector<Floor> found);

  const std::vector<Floor>& floors() const { return floors_; }
  bool one_level() const { return floors_.empty(); }
  // Groups of the floor of this name (the innermost, of several); 1 where there is none.
  int32_t groups(std::string_view name) const;
  // Every group is a run of neighbouring ranks, so that going by groups keeps rank order.
  bool in_rank_order() const;
  // The floors in text: equal for equal floors, empty for one level. A key for what is made from
  // them.
  const std::string& contents() const { return contents_; }
  // Of some of the ranks, in their new order.
  Levels of(const std::vector<int>& ranks) const;

  bool operator==(const Levels& other) const { return floors_ == other.floors_; }

 private:
  std::vector<Floor> floors_;
  std::string contents_;
};

// Of ranks that may run on these processing units each. A rank without any, or with one that has no
// place, makes all one level.
Levels levels_of(const std::vector<std::vector<int>>& bindings, const Places& places);

// `contents()` again: NAME:GROUPS for each floor, spaces between, GROUPS as base/repeated.h has
// them. Throws Error(invalid_argument) where the text is no such.
Levels read_levels(std::string_view contents);

}  // namespace tutti::topo
