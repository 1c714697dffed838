// The filter of a trace says which calls and steps it has. It chooses no place in a plan, where
// PATHS's trace wrappers stand anywhere in a path (section 2).
//
//   collectives=allreduce,bcast ranks=0..3,8 steps=waiting,reduce from=0.5 until=2
//
// The clauses stand in any order, each at most once; without a clause nothing is left out by it.
// `ranks` are those of MPI_COMM_WORLD. `steps` are kinds or groups of kinds (waiting, moving,
// reducing, telling); a call whose steps are left out is recorded all the same. `from` and `until`
// are seconds since the trace began, in MPI_Init; a call counts by its begin, which ranks read on
// clocks of their own. A value, read from text that a user wrote.
#pragma once

#include <bitset>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::trace {

struct Filter {
  std::bitset<256> collectives = std::bitset<256>().set();  // indexed by number
  std::bitset<256> kinds = std::bitset<256>().set();        // indexed by number
  std::vector<std::pair<int, int>> ranks;                   // first and last; none: all
  uint64_t from = 0, until = UINT64_MAX;                    // nanoseconds

  bool has_rank(int rank) const;
  bool has_window() const { return from > 0 || until < UINT64_MAX; }
};

// Throws Error(invalid_argument) naming the clause at fault and what is accepted.
Filter read_filter(std::string_view text);

}  // namespace tutti::trace
