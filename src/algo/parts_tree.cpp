#include "algo/parts_tree.h"

#include "algo/interval.h"

namespace tutti::algo {
namespace {

using plan::Plan;
using plan::Region;

// Collects an interval that the root is not in as tmp[low].0 .. size - 1.
void collect(Plan& plan, Interval interval, int degree) {
  const int32_t leader = interval.low;
  plan.copy(plan::tmp(leader, 0), plan::in(leader));
  if (interval.size() == 1) return;
  for (const Interval& part : parts(interval, degree)) {
    // The leader's own part of the tree is collected in the same place.
    if (part.low == leader) {
      if (part.size() > 1) collect(plan, part, degree);
      continue;
    }
    collect(plan, part, degree);
    plan.copy(plan::tmp(leader, part.low - leader, part.size()), plan::tmp(part.low, 0, part.size()));
  }
}

void gather(Plan& plan, Interval interval, int degree) {
  if (interval.size() == 1) return plan.copy(plan::out(plan.root, plan.root), plan::in(plan.root));
  for (const Interval& part : parts(interval, degree)) {
    if (part.contains(plan.root)) {
      gather(plan, part, degree);
      continue;
    }
    collect(plan, part, degree);
    plan.copy(plan::out(plan.root, part.low, part.size()), plan::tmp(part.low, 0, part.size()));
  }
}

// Hands out the parts of an interval from tmp[low].0 .. size - 1.
void hand_out(Plan& plan, Interval interval, int degree) {
  const int32_t leader = interval.low;
  if (interval.size() == 1) return plan.copy(plan::out(leader), plan::tmp(leader, 0));
  const std::vector<Interval> all = parts(interval, degree);
  for (const Interval& part : all) {
    if (part.low == leader) continue;
    plan.copy(plan::tmp(part.low, 0, part.size()), plan::tmp(leader, part.low - leader, part.size()));
  }
  for (const Interval& part : all) hand_out(plan, part, degree);
}

void scatter(Plan& plan, Interval interval, int degree) {
  const int32_t root = plan.root;
  if (interval.size() == 1) return plan.copy(plan::out(root), plan::in(root, root));
  const std::vector<Interval> all = parts(interval, degree);
  for (const Interval& part : all) {
    if (part.contains(root)) continue;
    plan.copy(plan::tmp(root, part.low, part.size()), plan::in(root, part.low, part.size()));
    plan.copy(plan::tmp(part.low, 0, part.size()), plan::tmp(root, part.low, part.size()));
  }
  for (const Interval& part : all) {
    if (part.contains(root)) {
      scatter(plan, part, degree);
    } else {
      hand_out(plan, part, degree);
    }
  }
}

}  // namespace

Plan parts_tree(plan::Collective collective, int ranks, int root, int degree) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.root = root;
  plan.blocks = ranks;
  if (collective == plan::Collective::gather) {
    gather(plan, {0, ranks}, degree);
  } else {
    scatter(plan, {0, ranks}, degree);
  }
  return plan;
}

}  // namespace tutti::algo
