#include "algo/fold.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tutti::algo {
namespace {

// Sizes of the outermost groups, in the order of by_levels.
std::vector<int32_t> group_sizes(int32_t ranks, const placement::Levels& levels) {
  if (levels.one_level()) return {ranks};
  std::vector<int32_t> sizes(static_cast<size_t>(levels.all().front().groups), 0);
  for (const int32_t group : levels.all().front().group_of.values())
    ++sizes[static_cast<size_t>(group)];
  return sizes;
}

// How many ranks of each group are workers: multiples of `run` whose sum is `wanted`; empty if
// there are none. At least half of each group does, so that each of the others has a neighbour
// there.
std::vector<int32_t> at_work(const std::vector<int32_t>& sizes, int32_t wanted, int32_t run) {
  std::vector<int32_t> working;
  int32_t left = wanted;
  for (const int32_t size : sizes) {
    working.push_back(((size + 1) / 2 + run - 1) / run * run);
    if (working.back() > size) return {};
    left -= working.back();
  }
  for (size_t group = 0; group < sizes.size() && left > 0; ++group) {
    const int32_t more = std::min(left, (sizes[group] - working[group]) / run * run);
    working[group] += more;
    left -= more;
  }
  return left == 0 ? working : std::vector<int32_t>{};
}

}  // namespace

std::vector<int32_t> by_levels(int32_t ranks, const placement::Levels& levels) {
  std::vector<int32_t> order(static_cast<size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<int32_t>> level_groups;
  for (const placement::SharedLevel& level : levels.all())
    level_groups.push_back(level.group_of.values());
  std::stable_sort(order.begin(), order.end(), [&](int32_t one, int32_t other) {
    for (const std::vector<int32_t>& group_of : level_groups) {
      const int32_t mine = group_of[static_cast<size_t>(one)],
                    theirs = group_of[static_cast<size_t>(other)];
      if (mine != theirs) return mine < theirs;
    }
    return false;
  });
  return order;
}

Fold fold(int32_t ranks, const placement::Levels& levels) {
  const auto wanted = static_cast<int32_t>(std::bit_floor(static_cast<uint32_t>(ranks)));
  std::vector<int32_t> sizes = group_sizes(ranks, levels);
  Fold result;
  std::vector<int32_t> working;
  for (int32_t run = wanted; working.empty() && run > 0; run /= 2) {
    working = at_work(sizes, wanted, run);
    result.local = run;
  }
  if (working.empty()) {
    sizes = {ranks};
    working = {wanted};
  }
  const std::vector<int32_t> order = by_levels(ranks, levels);
  size_t next = 0;
  for (size_t group = 0; group < sizes.size(); ++group) {
    for (int32_t place = 0; place < working[group]; ++place) {
      Fold::Worker added{order[next++]};
      if (place < sizes[group] - working[group]) added.folded = order[next++];
      result.workers.push_back(added);
    }
  }
  return result;
}

FoldedVectors::FoldedVectors(plan::Plan& plan, const Fold& frame)
    : plan_(plan), frame_(frame), steps_(std::bit_width(static_cast<uint32_t>(frame.size()) - 1)) {
  for (const Fold::Worker& worker : frame.workers) {
    if (worker.folded == nobody) {
      plan.copy(plan::tmp(worker.rank), plan::in(worker.rank));
    } else {
      plan.reduce(plan::tmp(worker.rank), {plan::in(worker.rank), plan::in(worker.folded)});
    }
  }
}

plan::Region FoldedVectors::value(int32_t place, int32_t step) const {
  const Fold::Worker& at = frame_.workers[static_cast<size_t>(place)];
  const bool is_result = step == steps_ && steps_ > 0 && at.folded == nobody;
  return is_result ? plan::out(at.rank) : plan::tmp(at.rank, step);
}

void FoldedVectors::close() {
  for (int32_t place = 0; place < frame_.size(); ++place) {
    const plan::Region result = value(place, steps_);
    const Fold::Worker& at = frame_.workers[static_cast<size_t>(place)];
    if (result.buffer != plan::Buffer::out) plan_.copy(plan::out(at.rank), result);
    if (at.folded != nobody) plan_.copy(plan::out(at.folded), result);
  }
}

}  // namespace tutti::algo
