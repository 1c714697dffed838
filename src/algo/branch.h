// Trees of ranks: the shape of every tree algorithm, apart from any data.
//
// A branch is a set of ranks with a leader, made of smaller branches in the order of their first
// ranks. On one level the branches are intervals of ranks (interval.h), so partial results combine
// in rank order whichever rank leads. On several levels the ranks of a group form a branch: one
// tree lies within each group and one between the groups, so that only transfers at the top of the
// tree go from group to group. Where groups are not runs of ranks, rank order is lost
// (Levels::in_rank_order).
//
// Source: HMPI, section 2.2 (trees on the node's levels); NUMACol, section 3 (multi-level trees, in
// which a leader leads on all its levels). Values and pure functions, for any thread.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "placement/levels.h"

namespace tutti::algo {

struct Branch {
  int32_t leader = 0;
  int32_t size = 1;           // ranks in it
  std::vector<Branch> parts;  // two or more, one of them led by `leader`; empty: the leader alone
  // Its leader combines it at once in a transfer of its own, and so does not wait for other
  // branches that it leads: a leaf of the binary tree of equation (1).
  bool apart = false;
  // A branch that stands apart takes turns with those of its group (first rank and size): at most
  // so many combine at once. 0: all do.
  int32_t at_once = 0;
  std::pair<int32_t, int32_t> group = {0, 0};
};

// How the branches of one group are joined to one.
struct TreeShape {
  int32_t degree = 2;   // as in interval.h; 0: flat
  int32_t leaves = 0;   // not 0: flat trees first, until so many ranks are left; then a binary tree
  int32_t at_once = 0;  // not 0: of the flat trees of `leaves` at most so many combine at once
  bool binary = false;  // every leader has at most two parts besides its own: one of the ranks
                        // before it and one of those after it, or both of the side that has ranks
};

// A tree of all `ranks`, led by `root`. The innermost groups (on one level: all ranks) take the
// shape `inner`, the others `outer`.
Branch branch_of(int32_t ranks, int32_t root, const placement::Levels& levels, TreeShape outer,
                 TreeShape inner);

// Joins branches to one, in the order given. It is led by `root` if `root` leads one of them, else
// by the leader of the first one (in a binary tree, of the middle one).
Branch joined(std::vector<Branch> branches, TreeShape shape, int32_t root);

// The ranks of a branch in the order of its parts.
std::vector<int32_t> ranks_of(const Branch& branch);

// The largest d such that every binary tree of least depth over at most d leaves can run with at
// most c = floor(link / shared) combinations at once, so that no rank waits for the shared cache:
// 2^(1 + floor(log2 c)) + c, at most `ranks`. `link` is the time per byte over a rank's own link,
// `shared` the time per byte over the link that all share (HMPI's b and B).
// docs/decisions/leaves-of-a-binary-tree.md derives this; the paper's equation (1) rounds log2 up,
// which gives too many leaves if c is not a power of two.
int32_t leaves_without_congestion(int32_t ranks, double link, double shared);

}  // namespace tutti::algo
