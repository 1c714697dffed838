#include "algo/tree.h"

#include "algo/interval.h"

namespace tutti::algo {
namespace {

using plan::Plan;
using plan::Region;

// Appends to `sources` what `leader` combines for `interval`, in rank order, after the transfers that make it.
void contributions(Plan& plan, Interval interval, int32_t leader, int degree, std::vector<Region>& sources) {
  if (interval.size() == 1) {
    sources.push_back(plan::in(leader));
    return;
  }
  for (const Interval& part : parts(interval, degree)) {
    if (part.contains(leader)) {
      contributions(plan, part, leader, degree, sources);
    } else if (part.size() == 1) {
      sources.push_back(plan::in(part.low));
    } else {
      std::vector<Region> partial;
      contributions(plan, part, part.low, degree, partial);
      plan.reduce(plan::tmp(part.low), std::move(partial));
      sources.push_back(plan::tmp(part.low));
    }
  }
}

void reduce_phase(Plan& plan, int32_t root, int degree) {
  std::vector<Region> sources;
  contributions(plan, {0, plan.ranks}, root, degree, sources);
  plan.reduce(plan::out(root), std::move(sources));
}

// From `leader`, which holds the data in `source`, to the rest of the interval; the farthest parts first.
void broadcast_phase(Plan& plan, Interval interval, int32_t leader, Region source, int degree) {
  if (interval.size() == 1) return;
  const std::vector<Interval> all = parts(interval, degree);
  for (const Interval& part : all) {
    if (!part.contains(leader)) plan.copy(plan::out(part.low), source);
  }
  for (const Interval& part : all) {
    if (part.contains(leader)) {
      broadcast_phase(plan, part, leader, source, degree);
    } else {
      broadcast_phase(plan, part, part.low, plan::out(part.low), degree);
    }
  }
}

}  // namespace

Plan tree(plan::Collective collective, int ranks, int root, int degree) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.root = root;
  if (collective == plan::Collective::bcast) {
    broadcast_phase(plan, {0, ranks}, root, plan::in(root), degree);
    return plan;
  }
  reduce_phase(plan, root, degree);
  if (collective != plan::Collective::reduce) broadcast_phase(plan, {0, ranks}, root, plan::out(root), degree);
  return plan;
}

}  // namespace tutti::algo
