// The table of a roll call: groups of ranks by their places, the smallest first, and how the first
// differs from the largest. Pure functions of places.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpi/roll/place.h"

namespace tutti::mpi::roll {

// Threads of several ranks that are at one place.
struct AtOnePlace {
  Place place;                    // the first rank's; the seconds are the longest
  std::vector<int> ranks;         // rising
  std::vector<Message> messages;  // one for each thread
};

// The smallest group first; of two with as many ranks, the one that is less likely to wait for the
// other.
std::vector<AtOnePlace> grouped(const std::vector<Place>& places);

// How a group differs from the largest, in one sentence; empty if there is one group.
std::string difference(const std::vector<AtOnePlace>& groups);

// Lines of at most 80 columns, where the names allow it. `ranks`: of the job; those without a place
// are on other nodes. `cause`: why the roll was called.
std::string table_text(const std::vector<Place>& places, int ranks, const std::string& cause);
// `printed_after`: the seconds between the limit and the last table that the job printed for want
// of progress; nothing: it has printed none.
std::string table_json(const std::vector<Place>& places, int ranks, const std::string& cause,
                       std::optional<double> printed_after);

// 0-2, 5
std::string list_of(const std::vector<int>& ranks);

}  // namespace tutti::mpi::roll
