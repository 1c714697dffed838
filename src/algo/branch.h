// Trees of ranks: the shape of every tree algorithm, apart from any data.
//
// A branch is a set of ranks led by one of them and made of smaller branches, in the order of their
// first ranks. On one level the branches are intervals of ranks (interval.h), so partial results
// combine in rank order whatever rank leads. On levels, the ranks of a group form a branch, with a
// tree inside and one above, so that borders are crossed at the top only; where groups are no runs
// of ranks, rank order is lost (Levels::in_rank_order).
//
// Source: HMPI, section 2.2 (trees on the node's levels); NUMACol, section 3 (multi-level trees, a
// leader leading on all its levels). Values; pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/levels.h"

namespace tutti::algo {

struct Branch {
  int32_t leader = 0;
  int32_t size = 1;           // ranks in it
  std::vector<Branch> parts;  // two or more, one with the branch's leader; none: the leader alone
};

// How the branches of one group become one.
struct TreeShape {
  int32_t degree = 2;   // as in interval.h; 0: flat
  int32_t leaves = 0;   // not 0: two phases, first flat trees until so many ranks are left at work,
                        // then a binary tree
  bool binary = false;  // every leader has two parts beside its own, one of the ranks on either
                        // side where there are such
};

// All of `ranks`, led by `root`. Innermost groups (or, on one level, all ranks) take the shape
// `inner`, others `outer`.
Branch branch_of(int32_t ranks, int32_t root, const placement::Levels& levels, TreeShape outer,
                 TreeShape inner);

// Branches as one, in the order given, led by `root` where that leads one of them, else by the
// first one's leader (of a binary tree, by the middle one's).
Branch joined(std::vector<Branch> branches, TreeShape shape, int32_t root);

// The ranks of a branch in the order of its parts.
std::vector<int32_t> ranks_of(const Branch& branch);

// The largest d such that every binary tree of least depth over at most d leaves can run with at
// most c = floor(link / shared) combinations at once, so that nobody waits for the shared cache:
// 2^(1 + floor(log2 c)) + c, and never more than the ranks. `link` is the time for a byte over one
// rank's own link, `shared` that over what all share (HMPI's b and B).
// docs/decisions/leaves-of-a-binary-tree.md derives it; the paper's equation (1) rounds log2 up,
// which is too much where c is no power of two.
int32_t leaves_without_congestion(int32_t ranks, double link, double shared);

}  // namespace tutti::algo
