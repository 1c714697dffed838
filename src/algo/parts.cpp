#include "algo/parts.h"

#include <algorithm>
#include <utility>

namespace tutti::algo {
namespace {

using plan::Collective;
using plan::Plan;

void gather(Plan& plan) {
  for (int32_t step = 1; step < plan.ranks; ++step) {
    const int32_t rank = (plan.root + step) % plan.ranks;
    plan.copy(plan::tmp(rank), plan::in(rank));
  }
  plan.copy(plan::out(plan.root, plan.root), plan::in(plan.root));
  for (int32_t step = 1; step < plan.ranks; ++step) {
    const int32_t rank = (plan.root + step) % plan.ranks;
    plan.copy(plan::out(plan.root, rank), plan::tmp(rank));
  }
}

// Calls `put` and then `take` for the steps 1 .. p - 1, group by group.
void in_groups(int32_t ranks, int32_t window, auto&& put, auto&& take) {
  for (int32_t first = 1; first < ranks; first += window) {
    const int32_t end = std::min(first + window, ranks);
    for (int32_t step = first; step < end; ++step) put(step, (step - 1) % window);
    for (int32_t step = first; step < end; ++step) take(step, (step - 1) % window);
  }
}

void scatter(Plan& plan, int32_t window) {
  const int32_t root = plan.root;
  const auto rank_at = [&](int32_t step) { return (root + step) % plan.ranks; };
  in_groups(
      plan.ranks, window,
      [&](int32_t step, int32_t place) {
        plan.copy(plan::tmp(root, place), plan::in(root, rank_at(step)));
      },
      [&](int32_t step, int32_t place) {
        plan.copy(plan::out(rank_at(step)), plan::tmp(root, place));
      });
  plan.copy(plan::out(root), plan::in(root, root));
}

// The patterns of rank 0. It starts with its right neighbour, so that ranks do not all read the
// same rank.
void allgather(Plan& plan) {
  if (plan.ranks > 1) plan.copy(plan::tmp(0), plan::in(0));
  plan.copy(plan::out(0, 0), plan::in(0));
  for (int32_t other = 1; other < plan.ranks; ++other)
    plan.copy(plan::out(0, other), plan::tmp(other));
}

// The distances of partners, in the order 1, p - 1, 2, p - 2, ... A pair of distances d and p - d
// names the same two partners: a rank's part for one partner and its result from that partner are
// at the same place of `in` and `out`. With both distances in one group, ranks may pass one buffer
// as `in` and `out`.
int32_t distance(int32_t ranks, int32_t step) {
  return step % 2 == 1 ? (step + 1) / 2 : ranks - step / 2;
}

// The patterns of rank 0.
void alltoall(Plan& plan, int32_t window) {
  const int32_t ranks = plan.ranks;
  const auto put = [&](int32_t step, int32_t place) {
    plan.copy(plan::tmp(0, place), plan::in(0, distance(ranks, step)));
  };
  const auto take = [&](int32_t step, int32_t place) {
    const int32_t from = ranks - distance(ranks, step);
    plan.copy(plan::out(0, from), plan::tmp(from, place));
  };
  in_groups(ranks, window, put, take);
  plan.copy(plan::out(0, 0), plan::in(0, 0));
}

// The patterns of rank 0, whose sources are taken in the order of their ranks.
void reduce_scatter_at_once(Plan& plan) {
  std::vector<plan::Region> sources{plan::in(0, 0)};
  for (int32_t other = 1; other < plan.ranks; ++other) {
    plan.copy(plan::tmp(0, other - 1), plan::in(0, other));
    sources.push_back(plan::tmp(other, plan.ranks - other - 1));
  }
  plan.reduce(plan::out(0), std::move(sources));
}

void reduce_scatter(Plan& plan, int32_t window) {
  if (plan.ranks == 1) return plan.copy(plan::out(0), plan::in(0));
  plan.expect(int64_t{plan.ranks} * plan.ranks);
  for (int32_t first = 0; first < plan.ranks; first += window) {
    const int32_t end = std::min(first + window, plan.ranks);
    for (int32_t rank = 0; rank < plan.ranks; ++rank) {
      for (int32_t part = first; part < end; ++part) {
        if (part != rank) plan.copy(plan::tmp(rank, part - first), plan::in(rank, part));
      }
    }
    for (int32_t part = first; part < end; ++part) {
      std::vector<plan::Region> sources;
      for (int32_t rank = 0; rank < plan.ranks; ++rank) {
        sources.push_back(rank == part ? plan::in(rank, part) : plan::tmp(rank, part - first));
      }
      plan.reduce(plan::out(part), std::move(sources));
    }
  }
}

}  // namespace

plan::Written one_hand_over(Collective collective, int ranks, int root, int window) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.root = root;
  plan.blocks = ranks;
  if (collective == Collective::gather) gather(plan);
  if (collective == Collective::scatter) scatter(plan, window);
  if (collective == Collective::allgather) allgather(plan);
  if (collective == Collective::alltoall) alltoall(plan, window);
  if (collective == Collective::reduce_scatter && window >= ranks) {
    reduce_scatter_at_once(plan);
    return plan::in_rank_order(std::move(plan), true);
  }
  if (collective == Collective::reduce_scatter) reduce_scatter(plan, window);
  // Automatic stages would give each group a stage of its own, and then a place in a slot would
  // hold data of as many segments at once.
  if (window < ranks - 1) {
    for (plan::Transfer& transfer : plan.transfers) transfer.stage = 0;
  }
  if (collective == Collective::allgather || collective == Collective::alltoall)
    return plan::in_rank_order(std::move(plan));
  return plan;
}

}  // namespace tutti::algo
