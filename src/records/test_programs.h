// The programs of collectives, for tests.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "algo/algo.h"
#include "plan/record_program.h"

namespace tutti::records {

inline std::string algorithm_for(plan::Collective collective) {
  if (plan::parted(collective)) return "direct";
  if (plan::rooted(collective)) return "flat";
  return "all_read_all";
}

// Returns the programs, indexed by rank. Made at the first call, which no other thread may make at
// the same time.
inline const std::vector<plan::RecordProgram>& programs_for(plan::Collective collective, int ranks,
                                                            int root) {
  static std::map<std::tuple<plan::Collective, int, int>, std::vector<plan::RecordProgram>> made;
  auto& programs = made[{collective, ranks, root}];
  if (programs.empty())
    programs = plan::make_record_program(
        algo::generate(collective, algorithm_for(collective), ranks, root));
  return programs;
}

}  // namespace tutti::records
