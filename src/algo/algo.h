// The built-in algorithms: each a short function that writes a plan, one family a file.
//
// A generator is pure: (ranks, root, parameters, levels) -> plan, the same at all ranks. It knows
// nothing of bytes, memory or time; select decides when it is used. Levels say which ranks lie near
// each other; without levels every algorithm takes the ranks as one level. docs/algorithms.md has
// the table of all of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "algo/branch.h"
#include "plan/plan.h"
#include "placement/levels.h"

namespace tutti::algo {

// What stands behind an algorithm's name: words with colons between them, each at most once.
struct Form {
  int degree = 0;      // N
  TreeShape outer{2};  // binomial, binary, flat, N or leaves=N: of all groups; a second one is for
                       // the innermost alone
  TreeShape inner{0};
  bool fixed = false;                // fixed: one tree for all roots
  bool one_stage = false;            // one_stage: all read the root, whatever the tree up
  bool push = false;                 // push: who has data writes it where it is wanted
  bool cyclic = false;               // cyclic, of tiles
  bool levels = false;               // levels, of tiles
  int leaders = 1;                   // leaders=K
  std::string_view between, within;  // specs behind the first and the second '+'; empty: the usual
};

struct Request {
  plan::Collective collective;
  int ranks;
  int root;
  const placement::Levels& levels;
  Form form;
};

// Whether results combine the ranks in order: then operations that do not commute are served.
enum class Order : uint8_t {
  kept,
  kept_in_runs,
  lost
};  // kept_in_runs: where groups are runs of ranks

struct Algorithm {
  std::string_view name;     // as users write it; "nary" takes a parameter: "nary:4"
  std::string_view summary;  // one line for lists
  bool takes_degree = false;
  int default_degree = 0;
  std::vector<plan::Collective> collectives;
  plan::Plan (*generate)(const Request&) = nullptr;
  std::vector<std::string_view> words =
      {};  // that may stand behind the name: of Form, and "SHAPE" for a tree's
  std::vector<std::string_view> variants =
      {};                  // names with words that `tutti tune` tries, beside the name alone
  bool by_levels = false;  // goes by levels (of tiled: its word `levels`)
  Order order = Order::kept;
  bool uniform = true;  // all ranks evaluate one expression
  int least_degree = 2;
  bool of_others = false;  // takes the specs of two others
};

const std::vector<Algorithm>& algorithms();

// `spec` is a name, or a name and words: "nary:4", "levels:binomial:flat",
// "hierarchical+ring+levels:flat". Throws Error(invalid_argument) naming what is accepted, and
// where the levels are not of so many ranks.
plan::Plan generate(plan::Collective collective, std::string_view spec, int ranks, int root,
                    const placement::Levels& levels = {});

// "nary:N", "tiled[:cyclic][:levels]", "hierarchical[:leaders=K][+BETWEEN[+WITHIN]]": the name and
// what may stand behind it, for lists.
std::string usage(const Algorithm& algorithm);

// Whether the plan of a spec hangs on the levels: where not, it is the same for all.
bool goes_by_levels(std::string_view spec);

// What operations a spec serves; what the check would find of its plan (rank_order, uniform),
// without making it.
struct Serves {
  bool rank_order = true, uniform = true;
};
Serves serves(plan::Collective collective, std::string_view spec, const placement::Levels& levels);

}  // namespace tutti::algo
