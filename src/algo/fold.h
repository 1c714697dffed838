// Ranks brought down to a power of two, laid out by levels: the frame of exchanges between pairs.
//
// With p ranks and P the largest power of two that is not above p, p - P ranks are folded: a
// neighbour does their work, and hands them the result in a closing step. The P workers stand in
// the order of levels (then of ranks). The folded ranks are chosen so that aligned runs of as many
// workers as possible (`local`, a power of two) lie within one outermost group each: exchanges over
// distances below `local` cross no border. The neighbour of a folded rank is in the same group,
// unless the sizes of groups do not allow it (three groups of one rank). On one level, or where
// groups are runs of ranks, workers stand in rank order, each for a run of ranks. Source: HMPI,
// section 2.3. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "placement/levels.h"

namespace tutti::algo {

inline constexpr int32_t nobody = -1;

struct Fold {
  struct Worker {
    int32_t rank;
    int32_t folded = nobody;  // the rank whose work it does as well; stands behind `rank`
  };
  std::vector<Worker> workers;  // a power of two
  int32_t local = 1;

  int32_t size() const { return static_cast<int32_t>(workers.size()); }
};

Fold fold(int32_t ranks, const placement::Levels& levels);

// Whole vectors on their way through such a frame, of which each step makes one of two. The last
// step's is the result, and comes where that belongs, but where it has to be handed on to a folded
// rank.
class FoldedVectors {
 public:
  // Writes the first values: the ranks' own, or what two that are folded combine to.
  FoldedVectors(plan::Plan& plan, const Fold& frame);

  int32_t steps() const { return steps_; }
  // Before the step of this number, and behind the last one.
  plan::Region value(int32_t place, int32_t step) const;
  // Results to where they are not yet.
  void close();

 private:
  plan::Plan& plan_;
  const Fold& frame_;
  int32_t steps_;
};

// All ranks in the order of levels: groups are together on every level.
std::vector<int32_t> by_levels(int32_t ranks, const placement::Levels& levels);

}  // namespace tutti::algo
