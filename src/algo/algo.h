// The built-in algorithms. Each is a short function that writes a plan; each family has a file.
//
// A generator is pure: (ranks, root, parameters, levels) -> plan, the same at all ranks. It knows
// nothing of bytes, memory or time; the room select decides which algorithm serves a call. The
// levels say which ranks are near each other; without levels all ranks are equally near.
// docs/algorithms.md has the table of all algorithms. Everything here is a value or a pure
// function, for any thread; the table of algorithms lives as long as the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "algo/branch.h"
#include "plan/symmetric.h"
#include "placement/levels.h"

namespace tutti::algo {

// The parameters that follow an algorithm's name: words separated by colons, each at most once.
struct Form {
  int degree = 0;          // N
  TreeShape outer{2};      // binomial, binary, flat, N or leaves=N: the tree's shape in all groups
  TreeShape inner{0};      // a second shape holds for the innermost groups only
  bool fixed = false;      // fixed: one tree for all roots
  bool one_stage = false;  // one_stage: all ranks read the result from the root
  bool two_stage = false;  // two_stage: the leaders of the outermost groups do, then all others
  bool stepwise = false;   // stepwise: a leader combines one child at a time
  bool push = false;       // push: the owner of the data writes it to its reader
  bool cyclic = false;     // cyclic (tiled only)
  bool levels = false;     // levels (tiled only)
  bool any_bits = false;   // any_bits: floating point too; ranks may get different bits
  int at_once = 0;         // subphases=C: of the leaves' combinations in a group, so many at once
  int leaders = 1;         // leaders=K
  int threshold = 0;       // threshold=BYTES (token_ring only)
  bool pull = false;       // pull: the reader of the data copies it
  bool served = false;     // served: between nodes servers exchange the parts (direct only)
  bool within_nodes = false;  // within: ranks of the root's node take turns, too (token_ring only)
  std::string_view between, within;  // specs after the first and second '+'; empty: the default
};

struct Request {
  plan::Collective collective;
  int ranks;
  int root;
  const placement::Levels& levels;
  Form form;
};

// The order of the ranks in a result: operations that do not commute need rank order. folded: kept,
// and no partial results are combined, but the ranks' own data one after another. kept_in_runs:
// only if each group is a run of consecutive ranks.
enum class Order : uint8_t { folded, kept, kept_in_runs, lost };

struct Algorithm {
  std::string_view name;     // as users write it; "nary" takes a parameter: "nary:4"
  std::string_view family;   // algorithms of a family take their time for the same reason
  std::string_view summary;  // one line for lists
  bool takes_degree = false;
  int default_degree = 0;
  std::vector<plan::Collective> collectives;
  std::function<plan::Written(const Request&)> write;
  std::vector<std::string_view> words = {};     // accepted after the name; "SHAPE": a tree's shape
  std::vector<std::string_view> variants = {};  // specs `tutti tune` tries besides the bare name
  bool by_levels = false;  // the plan depends on the levels (tiled: only with the word `levels`)
  Order order = Order::kept;
  bool uniform = true;  // all ranks evaluate the same expression
  int least_degree = 2;
  bool is_composed = false;  // built from two other algorithms, whose specs follow '+'
};

const std::vector<Algorithm>& algorithms();

// `spec` is a name, or a name and words: "nary:4", "levels:binomial:flat",
// "hierarchical+ring+levels:flat". Throws Error(invalid_argument), naming what is accepted, for a
// spec that is not valid and for levels of another rank count.
plan::Plan generate(plan::Collective collective, std::string_view spec, int ranks, int root,
                    const placement::Levels& levels = {});
// The same as its generator writes it: where ranks do alike, for one of them.
plan::Written written(plan::Collective collective, std::string_view spec, int ranks, int root,
                      const placement::Levels& levels = {});

// The algorithm that serves calls of `bytes` bytes by a spec, and from how many bytes to how many
// it does. A ring with a threshold needs no token for shorter parts, so `direct` serves them.
struct ServedAs {
  std::string_view algorithm;
  size_t least = 0, most = SIZE_MAX;
};
ServedAs served_as(std::string_view spec, size_t bytes);

// How many parts of a rank servers exchange at once by a spec; 0: servers exchange none.
int served_at_once(std::string_view spec);

// The name and its parameters, for lists: "nary:N", "tiled[:cyclic][:levels]",
// "hierarchical[:leaders=K][+BETWEEN[+WITHIN]]".
std::string usage(const Algorithm& algorithm);

// True if the plan of a spec depends on the levels.
bool goes_by_levels(std::string_view spec);

// The properties of a spec's plan that decide which operations it serves. They are those that
// plan::check would find, and no plan is made. rank_order: operations that do not commute are
// served. uniform: all ranks get the same bits, or the spec says that they need not (any_bits).
// folds: the bits do not depend on where ranks are.
struct Serves {
  bool rank_order = true, uniform = true, folds = true;
};
Serves serves(plan::Collective collective, std::string_view spec, const placement::Levels& levels);

}  // namespace tutti::algo
