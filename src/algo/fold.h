// Folding: ranks reduced to a power of two, in the order of levels. Exchanges between pairs use it.
//
// With p ranks and P the largest power of two that is at most p, p - P ranks are folded: a
// neighbour does their work and hands them the result in a closing step. The P workers are in the
// order of levels (then of ranks). The folded ranks are chosen so that aligned runs of `local`
// workers (a power of two, as large as possible) lie within one outermost group each: exchanges
// over distances below `local` stay within a group. A folded rank and its neighbour are in one
// group, except where the group sizes do not allow it (three groups of one rank). On one level, or
// if groups are runs of ranks, workers are in rank order and each works for a run of ranks.
//
// Source: HMPI, section 2.3. Values and pure functions, for any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "placement/levels.h"

namespace tutti::algo {

inline constexpr int32_t nobody = -1;

struct Fold {
  struct Worker {
    int32_t rank;               // the rank that works
    int32_t folded = nobody;    // the rank whose work it does as well; it comes after `rank`,
    bool folded_first = false;  // or, if this is true, before it
  };
  std::vector<Worker> workers;  // a power of two
  int32_t local = 1;

  int32_t size() const { return static_cast<int32_t>(workers.size()); }
};

Fold fold(int32_t ranks, const placement::Levels& levels);

// The values of whole vectors in a fold; each step combines two into one. The last step's value is
// the result. It is written to `out`, or to `tmp` first if a folded rank has to read it. Refers to
// the plan and the fold, which outlive it; used by the one thread that writes the plan.
class FoldedVectors {
 public:
  // Writes the first values: a rank's own vector, or the combination of a rank and its folded one.
  FoldedVectors(plan::Plan& plan, const Fold& frame);

  int32_t steps() const { return steps_; }
  // Returns the region of a worker's value before the step of this number; `steps()` gives the
  // result.
  plan::Region value(int32_t place, int32_t step) const;
  // Copies the results to every `out` that has none yet.
  void close();

 private:
  plan::Plan& plan_;
  const Fold& frame_;
  int32_t steps_;
};

// All ranks in the order of levels: the ranks of a group follow each other, on every level.
std::vector<int32_t> by_levels(int32_t ranks, const placement::Levels& levels);

}  // namespace tutti::algo
