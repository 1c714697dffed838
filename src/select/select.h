// Selection: (collective, bytes, ranks, whether ranks outnumber cores) -> algorithm and parameters.
//
// Data, not code: a table of size ranges with a fallback, read top to bottom. A pure function of what all ranks share,
// so that every rank chooses alike. A user's word (Overrides) beats the map of a user's own plans (library.h), and that
// beats the table.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/options.h"
#include "plan/plan.h"
#include "select/library.h"

namespace tutti::select {

struct Choice {
  std::string_view algorithm;  // as algo::generate takes it; points into static data or the overrides
  size_t segment_bytes = 0;    // 0: what the executor finds best
  size_t bytes_low = 0;        // the sizes for which the answer is the same
  size_t bytes_high = 0;
};

struct Overrides {
  std::array<std::string, plan::collective_count> algorithm;  // empty: the table's
  size_t segment_bytes = 0;                                   // 0: the table's
  Reproducible reproducible = Reproducible::off;
  const Library* library = nullptr;                           // the user's plans, which outlive this; null: none
};

// A built-in algorithm. With Reproducible::placement, one whose every result is ((x0 op x1) op x2) op ..., unless the user
// named another.
Choice choose(plan::Collective collective, size_t bytes, int ranks, bool oversubscribed, const Overrides& overrides);

}  // namespace tutti::select
