#include "algo/tree.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tutti::algo {
namespace {

using plan::Plan;
using plan::Region;

// A child's partial result, which the leader of a branch combines with what it has.
struct Partial {
  Region region;
  bool comes_before;  // in the branch's order: before all that the leader has then
};

// Writes the transfers by which the leaders of a branch combine.
class Reduction {
 public:
  Reduction(Plan& plan, Combining combining) : plan_(plan), combining_(combining) {}

  void write(const Branch& branch, Region result) {
    if (combining_ == Combining::at_once) {
      std::vector<Region> sources;
      list_sources(branch, sources);
      plan_.reduce(result, std::move(sources));
      return;
    }
    Region so_far = plan::in(branch.leader);
    std::vector<Partial> partials;
    list_partials(branch, partials);
    for (const Partial& partial : partials) {
      plan_.reduce(result, partial.comes_before ? std::vector{partial.region, so_far}
                                                : std::vector{so_far, partial.region});
      so_far = result;
    }
    if (partials.empty()) plan_.reduce(result, {so_far});
  }

 private:
  // The contribution of a part that another rank leads.
  Region contribution(const Branch& part) {
    if (part.parts.empty()) return plan::in(part.leader);
    write(part, plan::tmp(part.leader));
    return plan::tmp(part.leader);
  }

  // Appends to `sources` the regions that the leader combines for its branch, in the branch's
  // order.
  void list_sources(const Branch& branch, std::vector<Region>& sources) {
    if (branch.parts.empty()) sources.push_back(plan::in(branch.leader));
    for (const Branch& part : branch.parts) {
      if (part.leader == branch.leader)
        list_sources(part, sources);
      else
        sources.push_back(contribution(part));
    }
  }

  // Appends what the leader combines with its own vector, the smallest branches first, because they
  // are ready first. On each side of the leader's own part the nearest comes first, so that the
  // branch's order holds.
  void list_partials(const Branch& branch, std::vector<Partial>& partials) {
    const auto own = std::find_if(branch.parts.begin(), branch.parts.end(),
                                  [&](const Branch& part) { return part.leader == branch.leader; });
    if (own == branch.parts.end()) return;
    list_partials(*own, partials);
    for (auto part = own + 1; part != branch.parts.end(); ++part)
      partials.push_back({contribution(*part), false});
    for (auto part = own; part != branch.parts.begin();)
      partials.push_back({contribution(*--part), true});
  }

  Plan& plan_;
  const Combining combining_;
};

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

Plan tree(plan::Collective collective, int ranks, int root, const Branch& up, const Branch& down,
          Combining combining) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.root = root;
  Reduction reduction(plan, combining);
  if (collective == plan::Collective::bcast) {
    broadcast(plan, down);
  } else if (collective != plan::Collective::reduce) {
    reduction.write(up, plan::out(up.leader));
    broadcast_phase(plan, down, plan::out(up.leader), -1);
  } else if (up.leader == root) {
    reduction.write(up, plan::out(root));
  } else {
    reduction.write(up, plan::tmp(up.leader));
    plan.copy(plan::out(root), plan::tmp(up.leader));
  }
  return plan;
}

}  // namespace tutti::algo
