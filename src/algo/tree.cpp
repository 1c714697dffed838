#include "algo/tree.h"

#include <algorithm>
#include <map>
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
    if (combining_ == Combining::at_once || branch.apart) {
      std::vector<Region> sources;
      list_sources(branch, result, sources);
      await_turn(branch);
      plan_.reduce(result, std::move(sources));
      return;
    }
    std::vector<Partial> partials;
    Region so_far = list_partials(branch, result, partials);
    for (const Partial& partial : partials) {
      plan_.reduce(result, partial.comes_before ? std::vector{partial.region, so_far}
                                                : std::vector{so_far, partial.region});
      so_far = result;
    }
    if (partials.empty()) plan_.reduce(result, {so_far});
  }

 private:
  // Subphases: the leader waits for the one whose branch came `at_once` before in its group.
  void await_turn(const Branch& branch) {
    if (!branch.apart || branch.at_once == 0) return;
    std::vector<int32_t>& before = leaders_[branch.group];
    if (const size_t turn = before.size(), most = static_cast<size_t>(branch.at_once); turn >= most)
      plan_.token(branch.leader, before[turn - most]);
    before.push_back(branch.leader);
  }

  // The contribution of a part that another rank leads.
  Region contribution(const Branch& part) {
    if (part.parts.empty()) return plan::in(part.leader);
    write(part, plan::tmp(part.leader));
    return plan::tmp(part.leader);
  }

  // Appends to `sources` the regions that the leader combines for its branch, in the branch's
  // order. It combines a part of its own that stands apart, or all of its own part where it
  // combines step by step, to `result` before.
  void list_sources(const Branch& branch, Region result, std::vector<Region>& sources) {
    if (branch.parts.empty()) sources.push_back(plan::in(branch.leader));
    for (const Branch& part : branch.parts) {
      if (part.leader != branch.leader) {
        sources.push_back(contribution(part));
      } else if (part.apart || (combining_ == Combining::stepwise && !part.parts.empty())) {
        write(part, result);
        sources.push_back(result);
      } else {
        list_sources(part, result, sources);
      }
    }
  }

  // Appends what the leader combines with what it has, and returns the latter: its own vector or,
  // combined to `result`, its own part that stands apart. The smallest branches come first, because
  // they are ready first. On each side of the leader's own part the nearest comes first, so that
  // the branch's order holds.
  Region list_partials(const Branch& branch, Region result, std::vector<Partial>& partials) {
    const auto own = std::find_if(branch.parts.begin(), branch.parts.end(),
                                  [&](const Branch& part) { return part.leader == branch.leader; });
    if (own == branch.parts.end()) return plan::in(branch.leader);
    Region has = result;
    if (own->apart)
      write(*own, result);
    else
      has = list_partials(*own, result, partials);
    for (auto part = own + 1; part != branch.parts.end(); ++part)
      partials.push_back({contribution(*part), false});
    for (auto part = own; part != branch.parts.begin();)
      partials.push_back({contribution(*--part), true});
    return has;
  }

  Plan& plan_;
  const Combining combining_;
  std::map<std::pair<int32_t, int32_t>, std::vector<int32_t>> leaders_;  // the key is the group
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
