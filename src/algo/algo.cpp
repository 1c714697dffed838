#include "algo/algo.h"

#include <algorithm>
#include <charconv>

#include "algo/all_read_all.h"
#include "algo/tiled.h"
#include "algo/tree.h"
#include "base/error.h"

namespace tutti::algo {
namespace {

using plan::Collective;

const std::vector<Collective> every_collective = {Collective::barrier, Collective::bcast, Collective::reduce,
                                                  Collective::allreduce};
const std::vector<Collective> all_to_all_results = {Collective::barrier, Collective::allreduce};

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
      {"flat", "every rank hands its data to the root, the root hands it to every rank", false, 0, every_collective,
       [](Collective c, int ranks, int root, int) { return tree(c, ranks, root, std::max(ranks, 2)); }},
      {"binomial", "binomial tree, in rank order", false, 2, every_collective, tree},
      {"nary", "tree of degree N: a leader combines N - 1 others a level (HMPI 2.2)", true, 4, every_collective, tree},
      {"all_read_all", "every rank reads and combines all ranks' data; for a few ranks and bytes", false, 0,
       all_to_all_results, [](Collective c, int ranks, int, int) { return all_read_all(c, ranks); }},
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
