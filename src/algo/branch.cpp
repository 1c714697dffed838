#include "algo/branch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "algo/interval.h"

namespace tutti::algo {
namespace {

Branch of_parts(std::vector<Branch> parts, int32_t root) {
  if (parts.size() == 1) return std::move(parts.front());
  Branch branch{parts.front().leader, 0, {}};
  for (const Branch& part : parts) {
    if (part.leader == root) branch.leader = root;
    branch.size += part.size;
  }
  branch.parts = std::move(parts);
  return branch;
}

Branch join(std::vector<Branch>& branches, Interval interval, int32_t degree, int32_t root) {
  if (interval.size() == 1) return std::move(branches[static_cast<size_t>(interval.low)]);
  const std::vector<Interval> intervals = parts(interval, degree);
  std::vector<Branch> made;
  made.reserve(intervals.size());
  for (const Interval& part : intervals) made.push_back(join(branches, part, degree, root));
  return of_parts(std::move(made), root);
}

// The leader is the root if the root leads one of the branches, else the middle branch's leader. If
// no branch is on one side of the leader's own, the other side is split in two.
Branch join_binary(std::vector<Branch>& branches, Interval interval, int32_t root) {
  int32_t top = interval.low + (interval.size() - 1) / 2;
  for (int32_t at = interval.low; at < interval.high; ++at) {
    if (branches[static_cast<size_t>(at)].leader == root) top = at;
  }
  const int32_t leader = branches[static_cast<size_t>(top)].leader;
  std::vector<Branch> made;
  const auto add = [&](Interval part) {
    if (part.size() == 1) made.push_back(std::move(branches[static_cast<size_t>(part.low)]));
    if (part.size() > 1) made.push_back(join_binary(branches, part, root));
  };
  const auto add_side = [&](Interval side, bool alone) {
    const int32_t middle = alone ? side.low + side.size() / 2 : side.low;
    add({side.low, middle});
    add({middle, side.high});
  };
  add_side({interval.low, top}, top + 1 == interval.high);
  add({top, top + 1});
  add_side({top + 1, interval.high}, top == interval.low);
  return of_parts(std::move(made), leader);
}

// Joins runs of consecutive branches, of sizes as equal as possible, to one flat tree each.
std::vector<Branch> in_runs(std::vector<Branch> branches, const TreeShape& shape, int32_t root) {
  const auto count = static_cast<int64_t>(branches.size());
  const int32_t runs = std::min(shape.leaves, static_cast<int32_t>(count));
  std::pair<int32_t, int32_t> group{branches.front().leader, 0};
  for (const Branch& branch : branches) group.second += branch.size;
  std::vector<Branch> result;
  for (int32_t run = 0; run < runs; ++run) {
    const int64_t low = run * count / runs, high = (run + 1) * count / runs;
    const auto at = [&](int64_t place) {
      return std::make_move_iterator(branches.begin() + place);
    };
    result.push_back(of_parts({at(low), at(high)}, root));
    result.back().apart = high - low > 1;
    result.back().at_once = shape.at_once;
    result.back().group = group;
  }
  return result;
}

// Joins the first branches in pairs so that a power of two remains: the first step of a binary tree
// of least depth.
std::vector<Branch> in_pairs(std::vector<Branch> branches, int32_t root) {
  const size_t pairs = branches.size() - std::bit_floor(branches.size());
  std::vector<Branch> result;
  for (size_t i = 0; i < branches.size(); ++i) {
    std::vector<Branch> pair;
    pair.push_back(std::move(branches[i]));
    if (result.size() < pairs) pair.push_back(std::move(branches[++i]));
    result.push_back(of_parts(std::move(pair), root));
  }
  return result;
}

struct Builder {
  std::vector<std::vector<int32_t>> level_groups;  // groups by rank
  TreeShape outer, inner;
  int32_t root;

  Branch build(const std::vector<int32_t>& members, size_t level) const {
    std::vector<Branch> branches;
    if (level == level_groups.size()) {
      branches.reserve(members.size());
      for (const int32_t rank : members) branches.push_back({rank, 1, {}});
      return joined(std::move(branches), inner, root);
    }
    const std::vector<int32_t>& group_of = level_groups[level];
    std::map<int32_t, std::vector<int32_t>> groups;  // their numbers follow their first ranks
    for (const int32_t rank : members) groups[group_of[static_cast<size_t>(rank)]].push_back(rank);
    for (const auto& [number, ranks] : groups) branches.push_back(build(ranks, level + 1));
    return joined(std::move(branches), outer, root);
  }
};

void append_ranks(const Branch& branch, std::vector<int32_t>& ranks) {
  if (branch.parts.empty()) ranks.push_back(branch.leader);
  for (const Branch& part : branch.parts) append_ranks(part, ranks);
}

}  // namespace

Branch joined(std::vector<Branch> branches, TreeShape shape, int32_t root) {
  if (shape.leaves > 0) {
    branches = in_pairs(in_runs(std::move(branches), shape, root), root);
  }
  const auto count = static_cast<int32_t>(branches.size());
  if (shape.binary)
    return count == 1 ? std::move(branches.front()) : join_binary(branches, {0, count}, root);
  const int32_t degree = shape.degree == 0 ? std::max(count, 2) : shape.degree;
  return join(branches, {0, count}, shape.leaves > 0 ? 2 : degree, root);
}

Branch branch_of(int32_t ranks, int32_t root, const placement::Levels& levels, TreeShape outer,
                 TreeShape inner) {
  std::vector<int32_t> members(static_cast<size_t>(ranks));
  std::iota(members.begin(), members.end(), 0);
  std::vector<std::vector<int32_t>> level_groups;
  for (const placement::SharedLevel& level : levels.all())
    level_groups.push_back(level.group_of.values());
  return Builder{std::move(level_groups), outer, inner, root}.build(members, 0);
}

std::vector<int32_t> ranks_of(const Branch& branch) {
  std::vector<int32_t> ranks;
  append_ranks(branch, ranks);
  return ranks;
}

int32_t leaves_without_congestion(int32_t ranks, double link, double shared) {
  // At most one combination per rank runs at once; this also bounds the result of wrong
  // measurements.
  const double most = std::max(ranks, 1);
  const double at_once =
      shared > 0 && link / shared < most ? std::max(std::floor(link / shared), 1.0) : most;
  const auto c = static_cast<uint64_t>(at_once);
  return static_cast<int32_t>(
      std::min<uint64_t>(static_cast<uint64_t>(most), 2 * std::bit_floor(c) + c));
}

}  // namespace tutti::algo
