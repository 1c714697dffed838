#include "algo/dissemination.h"

#include "algo/fold.h"

namespace tutti::algo {
namespace {

using plan::Plan;

// The place at this distance before `place`: on the circle of its run of `local` places if the
// distance is below `local`, else on the circle of all places.
int32_t behind(int32_t place, int32_t distance, int32_t local, int32_t places) {
  const int32_t run = place / local * local;
  if (distance < local) return run + (place - run + local - distance) % local;
  return (place + places - distance) % places;
}

}  // namespace

Plan dissemination(plan::Collective collective, int ranks, const placement::Levels& levels) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.commutative = collective != plan::Collective::barrier && ranks > 1;
  Fold frame = fold(ranks, levels);
  if (collective == plan::Collective::barrier && levels.one_level()) {
    frame = {{}, ranks};
    for (int32_t rank = 0; rank < ranks; ++rank) frame.workers.push_back({rank});
  }
  FoldedVectors vectors(plan, frame);
  for (int32_t step = 0; step < vectors.steps(); ++step) {
    for (int32_t at = 0; at < frame.size(); ++at) {
      const int32_t other = behind(at, 1 << step, frame.local, frame.size());
      plan.reduce(vectors.value(at, step + 1),
                  {vectors.value(other, step), vectors.value(at, step)});
    }
  }
  vectors.close();
  return plan;
}

}  // namespace tutti::algo
