#include "algo/pairwise.h"

#include <algorithm>
#include <set>

#include "algo/compose.h"
#include "algo/parts.h"

namespace tutti::algo {
namespace {

using plan::Collective;
using plan::Plan;

class Writer {
 public:
  Writer(Plan& plan, const placement::Nodes& nodes)
      : plan_(plan), nodes_(nodes), node_of_(nodes), composer_(plan) {}

  // In an alltoall the distance between the ranks of a pair grows, so that no rank is the target of
  // all others at once.
  void between_nodes() {
    const int32_t ranks = plan_.ranks, root = plan_.root;
    for (int32_t distance = 1; distance < ranks; ++distance) {
      if (plan::exchanges(plan_.collective)) {
        for (int32_t from = 0; from < ranks; ++from) pair(from, (from + distance) % ranks);
      } else {
        const int32_t other = (root + distance) % ranks;
        plan::gathers(plan_.collective) ? pair(other, root) : pair(root, other);
      }
    }
  }

  void within_nodes() {
    std::set<int32_t> done;
    for (int32_t rank = 0; rank < plan_.ranks; ++rank) {
      const std::vector<int32_t> members = nodes_.members(rank, plan_.ranks);
      if (done.insert(members.front()).second) within(members);
    }
  }

 private:
  void pair(int32_t from, int32_t to) {
    if (node_of_.together(from, to)) return;
    const bool in_parts = plan::parted_in(plan_.collective);
    const bool out_parts = plan::parted_out(plan_.collective);
    plan_.copy(plan::out(to, out_parts ? from : 0), plan::in(from, in_parts ? to : 0));
  }

  void within(const std::vector<int32_t>& members) {
    const auto size = static_cast<int32_t>(members.size());
    const auto root = std::find(members.begin(), members.end(), plan_.root);
    if (plan::rooted(plan_.collective) && root == members.end()) return;
    const int32_t place =
        plan::rooted(plan_.collective) ? static_cast<int32_t>(root - members.begin()) : 0;
    const bool exchange = plan::exchanges(plan_.collective);
    const auto member = [&](int64_t of) { return members[static_cast<size_t>(of)]; };
    // An item of an alltoall is a pair of ranks, other items are ranks.
    const Locate in = [&](int32_t rank, int64_t item, Regions& regions) {
      const int32_t to = exchange ? member(item % size) : member(item);
      append(regions, plan::in(member(rank), plan::parted_in(plan_.collective) ? to : 0));
    };
    const Locate out = [&](int32_t rank, int64_t item, Regions& regions) {
      const int32_t from = exchange ? member(item / size) : member(item);
      append(regions, plan::out(member(rank), plan::parted_out(plan_.collective) ? from : 0));
    };
    const Plan part = plan::whole(one_hand_over(plan_.collective, size, place, size + size % 2));
    composer_.embed({part, members, in, out});
  }

  Plan& plan_;
  const placement::Nodes& nodes_;
  const placement::NodeOf node_of_;
  Composer composer_;
};

}  // namespace

Plan pairwise(Pairs pairs, Collective collective, int ranks, int root,
              const placement::Nodes& nodes) {
  Plan plan;
  plan.collective = collective;
  plan.algorithm = "pairwise";
  plan.ranks = ranks;
  plan.root = root;
  plan.blocks = ranks;
  Writer writer(plan, nodes);
  if (pairs != Pairs::within_nodes) writer.between_nodes();
  if (pairs != Pairs::between_nodes) writer.within_nodes();
  return plan;
}

}  // namespace tutti::algo
