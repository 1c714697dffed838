#include "algo/algo.h"

#include <algorithm>
#include <charconv>

#include "algo/all_read_all.h"
#include "algo/parts.h"
#include "algo/parts_tree.h"
#include "algo/scan.h"
#include "algo/tiled.h"
#include "algo/tree.h"
#include "base/error.h"

namespace tutti::algo {
namespace {

using plan::Collective;

using Collectives = std::vector<Collective>;

const Collectives of_all = {Collective::barrier,   Collective::bcast,    Collective::reduce,         Collective::allreduce,
                            Collective::gather,    Collective::scatter,  Collective::allgather,      Collective::alltoall,
                            Collective::reduce_scatter, Collective::scan, Collective::exscan};
const Collectives of_trees = {Collective::barrier,   Collective::bcast,  Collective::reduce,
                              Collective::allreduce, Collective::gather, Collective::scatter};

bool is_scan(Collective collective) { return collective == Collective::scan || collective == Collective::exscan; }

plan::Plan any_tree(Collective collective, int ranks, int root, int degree) {
  return parted(collective) ? parts_tree(collective, ranks, root, degree) : tree(collective, ranks, root, degree);
}

// What works for all ranks, roots and elements, with little room in the slots.
plan::Plan flat(Collective collective, int ranks, int root, int) {
  if (parted(collective)) return one_hand_over(collective, ranks, root, most_window);
  return is_scan(collective) ? scan_chain(collective, ranks) : tree(collective, ranks, root, std::max(ranks, 2));
}

plan::Plan one_step(Collective collective, int ranks, int root, int) {
  if (parted(collective)) return one_hand_over(collective, ranks, root, ranks + ranks % 2);
  return is_scan(collective) ? scan_all_read(collective, ranks) : all_read_all(collective, ranks);
}

std::string names() {
  std::string text;
  for (const Algorithm& algorithm : algorithms()) {
    if (!text.empty()) text += ", ";
    text += algorithm.name;
    if (algorithm.takes_degree) text += ":N";
  }
  return text;
}

const Algorithm& named(std::string_view name) {
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.name == name) return algorithm;
  }
  throw Error(Code::invalid_argument, "unknown algorithm '" + std::string(name) + "'; known are " + names());
}

int degree_of(const Algorithm& algorithm, std::string_view spec, int ranks) {
  const size_t colon = spec.find(':');
  if (colon == std::string_view::npos) return algorithm.default_degree == 0 ? ranks : algorithm.default_degree;
  const std::string_view digits = spec.substr(colon + 1);
  int degree = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), degree);
  if (!algorithm.takes_degree || error != std::errc() || end != digits.data() + digits.size() || degree < 2 ||
      degree > plan::max_ranks) {
    throw Error(Code::invalid_argument, "algorithm '" + std::string(spec) + "': " +
                                            (algorithm.takes_degree ? "the degree must be a number of at least 2"
                                                                    : "takes no degree; leave out ':' and what follows"));
  }
  return degree;
}

}  // namespace

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> table = {
      {"flat", "every rank hands its data to the ranks that want it, by way of the root where there is one", false, 0,
       of_all, flat},
      {"binomial", "binomial tree, in rank order", false, 2, of_trees, any_tree},
      {"nary", "tree of degree N: a leader combines N - 1 others a level (HMPI 2.2)", true, 4, of_trees, any_tree},
      {"direct", "every rank hands its parts to the ranks that want them, N at a time", true, most_window,
       {Collective::gather, Collective::scatter, Collective::allgather, Collective::alltoall, Collective::reduce_scatter},
       [](Collective c, int ranks, int root, int n) { return one_hand_over(c, ranks, root, n + n % 2); }},
      {"all_read_all", "every rank offers all it has and reads all it wants in one step; for a few ranks and bytes", false, 0,
       {Collective::barrier, Collective::allreduce, Collective::allgather, Collective::alltoall,
        Collective::reduce_scatter, Collective::scan, Collective::exscan},
       one_step},
      {"ring", "every rank takes from its left neighbour what that has taken before", false, 0, {Collective::allgather},
       [](Collective, int ranks, int, int) { return ring(ranks); }},
      {"chain", "every rank combines its left neighbour's result with its own vector (linear-time scan)", false, 0,
       {Collective::scan, Collective::exscan},
       [](Collective c, int ranks, int, int) { return scan_chain(c, ranks); }},
      {"tiled", "every rank combines one tile for all, for long vectors (HMPI 2.4)", false, 0, {Collective::allreduce},
       [](Collective c, int ranks, int, int) { return tiled(c, ranks); }},
  };
  return table;
}

plan::Plan generate(Collective collective, std::string_view spec, int ranks, int root) {
  const Algorithm& algorithm = named(spec.substr(0, spec.find(':')));
  const auto& serves = algorithm.collectives;
  if (std::find(serves.begin(), serves.end(), collective) == serves.end()) {
    throw Error(Code::invalid_argument, "algorithm '" + std::string(algorithm.name) + "' does not serve " +
                                            std::string(plan::name(collective)));
  }
  if (ranks < 1 || ranks > plan::max_ranks) {
    throw Error(Code::invalid_argument, "rank count " + std::to_string(ranks) + " is out of range; 1 to " +
                                            std::to_string(plan::max_ranks) + " are possible");
  }
  const bool has_root = plan::rooted(collective);
  if (root < 0 || root >= ranks || (!has_root && root != 0)) {
    throw Error(Code::invalid_argument,
                has_root ? "root " + std::to_string(root) + " is out of range; ranks are 0 to " + std::to_string(ranks - 1)
                         : std::string(plan::name(collective)) + " has no root; leave it out");
  }
  plan::Plan plan = algorithm.generate(collective, ranks, root, degree_of(algorithm, spec, ranks));
  plan.algorithm = std::string(spec);
  return plan;
}

}  // namespace tutti::algo
