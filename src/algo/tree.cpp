#include "algo/tree.h"

namespace tutti::algo {
namespace {

using plan::Plan;
using plan::Region;

// Appends to `sources` the regions that the leader combines for its branch, in the branch's order.
// Writes the transfers that fill them.
void contributions(Plan& plan, const Branch& branch, std::vector<Region>& sources) {
  if (branch.parts.empty()) {
    sources.push_back(plan::in(branch.leader));
    return;
  }
  for (const Branch& part : branch.parts) {
    if (part.leader == branch.leader) {
      contributions(plan, part, sources);
    } else if (part.parts.empty()) {
      sources.push_back(plan::in(part.leader));
    } else {
      std::vector<Region> partial;
      contributions(plan, part, partial);
      plan.reduce(plan::tmp(part.leader), std::move(partial));
      sources.push_back(plan::tmp(part.leader));
    }
  }
}

void reduce_phase(Plan& plan, const Branch& branch, Region result) {
  std::vector<Region> sources;
  contributions(plan, branch, sources);
  plan.reduce(result, std::move(sources));
}

// Copies `source` from the leader to the rest of its branch; the farthest parts come first. The
// rank `has` holds the data already; -1: no rank does.
void broadcast_phase(Plan& plan, const Branch& branch, Region source, int32_t has) {
  for (const Branch& part : branch.parts) {
    if (part.leader != branch.leader && part.leader != has)
      plan.copy(plan::out(part.leader), source);
  }
  for (const Branch& part : branch.parts) {
    Region from = plan::out(part.leader);
    if (part.leader == branch.leader) {
      from = source;
    } else if (part.leader == has) {
      from = plan::in(has);
    }
    broadcast_phase(plan, part, from, has);
  }
}

void broadcast(Plan& plan, const Branch& branch) {
  if (branch.leader == plan.root) return broadcast_phase(plan, branch, plan::in(plan.root), -1);
  plan.copy(plan::out(branch.leader), plan::in(plan.root));
  broadcast_phase(plan, branch, plan::out(branch.leader), plan.root);
}

}  // namespace

Plan tree(plan::Collective collective, int ranks, int root, const Branch& up, const Branch& down) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.root = root;
  if (collective == plan::Collective::bcast) {
    broadcast(plan, down);
  } else if (collective != plan::Collective::reduce) {
    reduce_phase(plan, up, plan::out(up.leader));
    broadcast_phase(plan, down, plan::out(up.leader), -1);
  } else if (up.leader == root) {
    reduce_phase(plan, up, plan::out(root));
  } else {
    reduce_phase(plan, up, plan::tmp(up.leader));
    plan.copy(plan::out(root), plan::tmp(up.leader));
  }
  return plan;
}

}  // namespace tutti::algo
