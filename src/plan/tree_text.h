// The text form of trees: a file, written by a user, that lists the children of each rank.
//
//   tutti-tree 1
//   collective allreduce       # or barrier, reduce, bcast
//   ranks 8
//   root 0                     # the root of the trees; 0 if left out
//   shape node:2 core:4        # the machine for which the tree is; any if left out
//   any_order yes              # parents combine their children as they arrive; no if left out
//   stepwise yes               # parents combine one child after another, in the order of their
//                              # lists, each when it is there; no (all at once) if left out
//   reduce 0: 1 2 4            # rank 0 combines its own data, then that of ranks 1, 2 and 4
//   reduce 2: 3
//   reduce 4: 5 6
//   reduce 6: 7
//   bcast 0: 1..7              # a list may have ranges: FIRST..LAST and FIRST..LAST/STEP
//
// A parent in its own list combines its own data in that place; any other parent combines its own
// data first. An allreduce and a barrier have two trees. If the bcast tree is left out, it is the
// reduce tree upside down, with the last child first. The plan is `commutative` if the reduce tree
// combines in another order than 0, 1, 2, ..., or in that of arrival. Text is untrusted input: its
// sizes are bounded, and nothing in it is executed. docs/plan-format.md has the grammar.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace tutti::plan {

// The contents of a tree's text, as plain data.
struct Trees {
  // The lists of children, indexed by parent; there are none, or one for each rank.
  using Children = std::vector<std::vector<int32_t>>;

  Collective collective{};
  std::string algorithm;  // a label for people
  int32_t ranks = 1;
  int32_t root = 0;
  std::string shape;  // as topo::print writes it; empty: any
  bool any_order = false;
  bool stepwise = false;
  Children reduce;  // the tree for a barrier, a reduce, an allreduce
  // The tree for a bcast, a barrier, an allreduce; in the last two, empty for the reduce tree
  // upside down.
  Children bcast;

  bool operator==(const Trees&) const = default;
};

// Throws Error(invalid_plan) "NAME:LINE: what is wrong; what would be right".
Trees read_trees(std::string_view text, std::string_view name = "tree");

// read_trees(print(trees)) == trees. The text has one line for each parent, and writes runs of
// ranks as ranges.
std::string print(const Trees& trees);

// The plan that a tree's text describes. Its transfers have the lines of the text. Throws as
// read_trees does.
Plan read_tree(std::string_view text, std::string_view name = "tree");

// The plan of trees that code has made. Throws Error(invalid_plan) naming the rank at fault.
Plan plan_of(const Trees& trees);

}  // namespace tutti::plan
