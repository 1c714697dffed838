#include "algo/parts_tree.h"

namespace tutti::algo {
namespace {

using plan::Plan;

// Calls visit(place in the branch's order, first rank, count) for each run of neighbouring ranks.
void for_each_run(const Branch& branch, auto&& visit) {
  const std::vector<int32_t> ranks = ranks_of(branch);
  for (size_t low = 0; low < ranks.size();) {
    size_t high = low + 1;
    while (high < ranks.size() && ranks[high] == ranks[high - 1] + 1) ++high;
    visit(static_cast<int32_t>(low), ranks[low], static_cast<int32_t>(high - low));
    low = high;
  }
}

// The place of the leader's own part in the branch's order.
int32_t own_place(const Branch& branch) {
  int32_t place = 0;
  for (const Branch& part : branch.parts) {
    if (part.leader == branch.leader) return place + own_place(part);
    place += part.size;
  }
  return place;
}

// Collects a branch's parts in tmp[leader].place ...; the leader's own part is there already.
void collect_others(Plan& plan, const Branch& branch, int32_t place);

void collect(Plan& plan, const Branch& branch) {
  plan.copy(plan::tmp(branch.leader, own_place(branch)), plan::in(branch.leader));
  collect_others(plan, branch, 0);
}

void collect_others(Plan& plan, const Branch& branch, int32_t place) {
  for (const Branch& part : branch.parts) {
    if (part.leader == branch.leader) {
      collect_others(plan, part, place);
    } else {
      collect(plan, part);
      plan.copy(plan::tmp(branch.leader, place, part.size), plan::tmp(part.leader, 0, part.size));
    }
    place += part.size;
  }
}

void place_at_root(Plan& plan, const Branch& branch) {
  for_each_run(branch, [&](int32_t place, int32_t rank, int32_t count) {
    plan.copy(plan::out(plan.root, rank, count), plan::tmp(branch.leader, place, count));
  });
}

void gather(Plan& plan, const Branch& branch) {
  if (branch.parts.empty()) return plan.copy(plan::out(plan.root, plan.root), plan::in(plan.root));
  for (const Branch& part : branch.parts) {
    if (part.leader == plan.root) {
      gather(plan, part);
      continue;
    }
    collect(plan, part);
    place_at_root(plan, part);
  }
}

// Hands out the parts of a branch from tmp[leader].place ..., where they are in the branch's order.
void hand_out(Plan& plan, const Branch& branch, int32_t place) {
  if (branch.parts.empty())
    return plan.copy(plan::out(branch.leader), plan::tmp(branch.leader, place));
  int32_t at = place;
  for (const Branch& part : branch.parts) {
    if (part.leader != branch.leader) {
      plan.copy(plan::tmp(part.leader, 0, part.size), plan::tmp(branch.leader, at, part.size));
    }
    at += part.size;
  }
  at = place;
  for (const Branch& part : branch.parts) {
    hand_out(plan, part, part.leader == branch.leader ? at : 0);
    at += part.size;
  }
}

// The root copies the parts of this branch to its `tmp`, from block `place` on; the blocks are in
// the whole tree's order.
void scatter(Plan& plan, const Branch& branch, int32_t place) {
  const int32_t root = plan.root;
  if (branch.parts.empty()) return plan.copy(plan::out(root), plan::in(root, root));
  int32_t at = place, own = place;
  for (const Branch& part : branch.parts) {
    if (part.leader == root) {
      own = at;
    } else {
      for_each_run(part, [&](int32_t within, int32_t rank, int32_t count) {
        plan.copy(plan::tmp(root, at + within, count), plan::in(root, rank, count));
      });
      plan.copy(plan::tmp(part.leader, 0, part.size), plan::tmp(root, at, part.size));
    }
    at += part.size;
  }
  for (const Branch& part : branch.parts) {
    if (part.leader == root) {
      scatter(plan, part, own);
    } else {
      hand_out(plan, part, 0);
    }
  }
}

// Scatter by a tree that another rank leads: the tree's leader copies all parts from the root, in
// the tree's order, and hands them out.
void scatter_by_another(Plan& plan, const Branch& branch) {
  for_each_run(branch, [&](int32_t place, int32_t rank, int32_t count) {
    plan.copy(plan::tmp(branch.leader, place, count), plan::in(plan.root, rank, count));
  });
  hand_out(plan, branch, 0);
}

}  // namespace

Plan parts_tree(plan::Collective collective, int ranks, int root, const Branch& branch) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.root = root;
  plan.blocks = ranks;
  const bool own_tree = branch.leader == root;
  if (collective == plan::Collective::gather) {
    if (own_tree) {
      gather(plan, branch);
    } else {
      collect(plan, branch);
      place_at_root(plan, branch);
    }
  } else if (own_tree) {
    scatter(plan, branch, 0);
  } else {
    scatter_by_another(plan, branch);
  }
  return plan;
}

}  // namespace tutti::algo
