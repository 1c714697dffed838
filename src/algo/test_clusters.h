// Clusters for tests: ranks placed on nodes of equal, unequal and interleaved sizes. Values and
// pure functions; the list of clusters lives as long as the program.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "plan/collective.h"
#include "placement/levels.h"

namespace tutti::algo {

// The numbers of each rank's node, and of its numa region within the node.
struct Cluster {
  std::string name;
  std::vector<int32_t> node_of;
  std::vector<int32_t> numa_of;  // empty: unknown

  int ranks() const { return static_cast<int>(node_of.size()); }
  placement::Levels levels() const {
    std::vector<placement::SharedLevel> levels{{"node", node_of, 0}};
    if (!numa_of.empty()) levels.push_back({"numa", numa_of, 0});
    return placement::Levels(levels);
  }
};

inline Cluster of_sizes(const std::string& name, const std::vector<int>& sizes) {
  Cluster cluster{name, {}, {}};
  for (size_t node = 0; node < sizes.size(); ++node) {
    for (int rank = 0; rank < sizes[node]; ++rank)
      cluster.node_of.push_back(static_cast<int32_t>(node));
  }
  return cluster;
}

inline Cluster dealt(const std::string& name, int ranks, const std::function<int(int)>& node_of) {
  Cluster cluster{name, {}, {}};
  for (int rank = 0; rank < ranks; ++rank) cluster.node_of.push_back(node_of(rank));
  return cluster;
}

inline Cluster with_numa(Cluster cluster, const std::function<int(int)>& numa_of) {
  cluster.name += ", numa";
  for (int rank = 0; rank < cluster.ranks(); ++rank) cluster.numa_of.push_back(numa_of(rank));
  return cluster;
}

inline const std::vector<Cluster>& clusters() {
  static const std::vector<Cluster> all = {
      of_sizes("2x1", {1, 1}),
      of_sizes("2x2", {2, 2}),
      of_sizes("3x7", {7, 7, 7}),
      with_numa(of_sizes("4x4", {4, 4, 4, 4}), [](int rank) { return rank / 2; }),
      of_sizes("5x1", {1, 1, 1, 1, 1}),
      of_sizes("1, 5, 2, 1", {1, 5, 2, 1}),
      of_sizes("6, 1, 3", {6, 1, 3}),
      dealt("round robin over 3", 11, [](int rank) { return rank % 3; }),
      with_numa(dealt("round robin over 2", 12, [](int rank) { return rank % 2; }),
                [](int rank) { return rank % 4; }),
      dealt("odd pieces", 13, [](int rank) { return rank * 7 % 5 % 4; }),
      dealt("one between the others", 6, [](int rank) { return rank == 2 ? 1 : 0; }),
      of_sizes("9x2", {2, 2, 2, 2, 2, 2, 2, 2, 2}),
  };
  return all;
}

inline std::vector<int> some_roots(plan::Collective collective, int ranks) {
  std::vector<int> roots{0};
  if (!plan::rooted(collective)) return roots;
  for (const int root : {1, ranks / 2, ranks - 1}) {
    if (std::find(roots.begin(), roots.end(), root) == roots.end()) roots.push_back(root);
  }
  return roots;
}

}  // namespace tutti::algo
