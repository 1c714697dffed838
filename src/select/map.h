// The text form of maps, which say which plan serves which calls.
//
//   tutti-map 1
//   allreduce ranks 8 shape node:2 core:4 sizes ..64K -> two-groups.tree
//   allreduce ranks 2..16 sizes 1M..                  -> builtin:tiled segment 32K
//   bcast root 0                                      -> pipeline.plan
//   barrier oversubscribed yes                        -> builtin:nary:4
//   bcast numa 2.. ranks 5..                          -> builtin:levels:flat
//   barrier nodes 2..8                                -> builtin:hierarchical+all_read_all
//   allreduce ranks 2 reached yes sizes 32K..         -> builtin:all_read_all
//   scatter oversubscribed yes sizes 32K..            -> builtin:flat reach cma
//
// Each line has one rule. Rules are read from top to bottom, and the first that matches a call
// decides. A condition that a rule leaves out (or gives as `*`) matches anything.
//
//   ranks, sizes     a number, or a range LOW..HIGH with both ends in it. Either end may be left
//                    out. Sizes are bytes of the vector, or of one part if buffers have parts;
//                    K, M and G count in 1024s
//   oversubscribed   there are more ranks than cores
//   reached          all ranks reach the memory that the program allocates (threads,
//                    --shared-heap)
//   clusters, nodes  how many of them the ranks are on
//   socket, numa     how many sockets (if they are not numa regions) or numa regions the ranks
//                    lie in; 1 if unknown
//   cache            how many groups of ranks share a cache each; 1 if unknown
//   known            the ranks are on one node, and no level that they share there is unknown, or
//                    all cores that they may run on share one link (placement/levels.h)
//
// A plan is a file beside the map or below it, NAME.plan (plan/text.h) or NAME.tree
// (plan/tree_text.h). `builtin:` names an algorithm as `tutti plan show --algorithm` takes it.
// Behind the plan a rule may say how long the segments are, and how readers may bypass slots if the
// ranks can: `reach staged` not at all, `reach direct` by mapped memory, `reach cma` also by the
// system's copies. A map that names only built-in algorithms is a table (table.h). Text is
// untrusted input: sizes are bounded, and nothing is executed. docs/plan-format.md has the grammar.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "plan/plan.h"
#include "topo/shape.h"

namespace tutti::select {

inline constexpr int32_t any_root = -1;
inline constexpr size_t max_rules = 4096;

enum class YesNo : uint8_t { any, no, yes };

struct Rule {
  plan::Collective collective{};
  int32_t ranks_low = 1, ranks_high = plan::max_ranks;  // both ends in it, as for bytes
  topo::Shape shape;                                    // empty: any
  YesNo oversubscribed = YesNo::any;                    // whether ranks outnumber cores
  YesNo reached = YesNo::any;  // whether ranks reach the memory that each one allocates
  int32_t clusters_low = 1, clusters_high = plan::max_ranks;  // clusters that their nodes are in
  // Nodes that the ranks are on.
  int32_t nodes_low = 1, nodes_high = plan::max_ranks;
  // Sockets that the ranks lie in; 1: one, numa regions, or unknown.
  int32_t sockets_low = 1, sockets_high = plan::max_ranks;
  // Numa regions that the ranks lie in; 1: one, or unknown.
  int32_t numa_low = 1, numa_high = plan::max_ranks;
  // Groups of ranks that share a cache; 1: one, or unknown.
  int32_t caches_low = 1, caches_high = plan::max_ranks;
  YesNo known = YesNo::any;  // whether the ranks are on one node and all their levels are known
  size_t bytes_low = 0, bytes_high = SIZE_MAX;
  int32_t root = any_root;
  bool builtin = false;
  std::string target;        // an algorithm, or the name of a file, relative to the map
  size_t segment_bytes = 0;  // 0: what the executor finds best
  ReachChoice reach =
      ReachChoice::automatic;  // staged, direct or cma; automatic: as without a rule
  int32_t line = 0;

  bool operator==(const Rule&) const = default;
};

struct Map {
  std::string name;
  std::vector<Rule> rules;
};

// Reads the map's text alone; select/library.h reads the files that it names. Throws
// Error(invalid_plan) "NAME:LINE: what is wrong; what would be right".
Map read_map(std::string_view text, std::string_view name = "map");

// The word behind `reach` in a rule, or in TUTTI_REACH; empty for automatic.
std::string_view reach_word(ReachChoice reach);

// The rule as text, on one line.
std::string print(const Rule& rule);
std::string print(const Map& map);

}  // namespace tutti::select
