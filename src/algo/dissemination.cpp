#include "algo/dissemination.h"

#include "algo/fold.h"

namespace tutti::algo {
namespace {

using plan::Plan;

// Who is so far behind a place: within its run of `local` places first, then from run to run.
int32_t behind(int32_t place, int32_t distance, int32_t local, int32_t places) {
  const int32_t run = place / local * local;
  if (distance < local) return run + (place - run + local - distance) % local;
  return (place + places - distance) % places;
}

}  // namespace

Plan dissemination(plan::Collective collective, int ranks, const topo::Levels& levels) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.commutative = collective != plan::Collective::barrier && ranks > 1;
  Fold frame = fold(ranks, levels);
  if (collective == plan::Collective::barrier && levels.one_level()) {
    frame = {{}, ranks};
    for (int32_t rank = 0; rank < ranks; ++rank) frame.places.push_back({rank});
  }
  for (const Fold::Place& place : frame.places) {
    if (place.folded == nobody) {
      plan.copy(plan::tmp(place.rank), plan::in(place.rank));
    } else {
      plan.reduce(plan::tmp(place.rank), {plan::in(place.rank), plan::in(place.folded)});
    }
  }
  int32_t step = 0;
  for (int32_t distance = 1; distance < frame.size(); distance *= 2, ++step) {
    for (int32_t at = 0; at < frame.size(); ++at) {
      const int32_t rank = frame.places[at].rank, other = frame.places[behind(at, distance, frame.local, frame.size())].rank;
      plan.reduce(plan::tmp(rank, step + 1), {plan::tmp(other, step), plan::tmp(rank, step)});
    }
  }
  for (const Fold::Place& place : frame.places) {
    plan.copy(plan::out(place.rank), plan::tmp(place.rank, step));
    if (place.folded != nobody) plan.copy(plan::out(place.folded), plan::tmp(place.rank, step));
  }
  return plan;
}

}  // namespace tutti::algo
