// Topologies for tests, and what each block that a rank receives from a neighbour must be, by the
// standard's rules (MPI 4.1, section 8.6).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "records/neighbours.h"

namespace tutti::records {

// The topology of a communicator, by rank.
using Topology = std::vector<Neighbourhood>;
// The block of a rank's `in` that a block of `out` must get; rank -1: none.
struct Origin {
  int32_t rank = -1;
  int32_t block = 0;
  bool operator==(const Origin&) const = default;
};
using Origins = std::vector<std::vector<Origin>>;  // indexed by rank and block of `out`

struct Grid {
  std::vector<int32_t> lengths;
  std::vector<bool> periodic;

  int32_t ranks() const {
    return std::accumulate(lengths.begin(), lengths.end(), 1, std::multiplies<>());
  }
  // The rank one step away; -1 beyond a border.
  int32_t neighbour(int32_t rank, size_t dimension, int32_t step) const {
    int32_t below = 1;  // ranks between two that differ by 1 in the dimension
    for (size_t i = dimension + 1; i < lengths.size(); ++i) below *= lengths[i];
    const int32_t length = lengths[dimension], at = rank / below % length;
    const int32_t to = at + step;
    if (!periodic[dimension] && (to < 0 || to >= length)) return -1;
    return rank + ((to + length) % length - at) * below;
  }
};

inline Topology topology_of(const Grid& grid) {
  Topology topology;
  for (int32_t rank = 0; rank < grid.ranks(); ++rank) {
    Neighbourhood& own = topology.emplace_back();
    own.cartesian = true;
    for (size_t i = 0; i < grid.lengths.size(); ++i)
      for (const int32_t step : {-1, 1}) own.destinations.push_back(grid.neighbour(rank, i, step));
    own.sources = own.destinations;
  }
  return topology;
}

// The block from the lower neighbour in a dimension is the one that it sent upwards, and the other
// way round.
inline Origins origins_of(const Grid& grid) {
  Origins origins;
  for (int32_t rank = 0; rank < grid.ranks(); ++rank) {
    auto& own = origins.emplace_back();
    for (size_t i = 0; i < grid.lengths.size(); ++i) {
      const auto down = static_cast<int32_t>(2 * i), up = down + 1;
      own.push_back({grid.neighbour(rank, i, -1), up});
      own.push_back({grid.neighbour(rank, i, 1), down});
    }
  }
  return origins;
}

// All ranks send their messages in the order of their edges; between two ranks none overtakes.
inline Origins origins_of(const Topology& graph) {
  std::map<std::pair<int32_t, int32_t>, std::deque<int32_t>> under_way;
  for (size_t rank = 0; rank < graph.size(); ++rank)
    for (size_t i = 0; i < graph[rank].destinations.size(); ++i)
      under_way[{static_cast<int32_t>(rank), graph[rank].destinations[i]}].push_back(
          static_cast<int32_t>(i));
  Origins origins(graph.size());
  for (size_t rank = 0; rank < graph.size(); ++rank)
    for (const int32_t from : graph[rank].sources) {
      auto& messages = under_way[{from, static_cast<int32_t>(rank)}];
      origins[rank].push_back(from < 0 ? Origin{} : Origin{from, messages.front()});
      if (from >= 0) messages.pop_front();
    }
  return origins;
}

// With repeated edges, edges of a rank to itself, ranks without edges, and blocks without a rank.
// The order of a rank's list is its own.
inline Topology random_graph(std::mt19937& random, size_t ranks, size_t edges) {
  Topology graph(ranks);
  for (size_t i = 0; i < edges; ++i) {
    const auto from = random() % ranks, to = random() % ranks;
    graph[from].destinations.push_back(static_cast<int32_t>(to));
    graph[to].sources.push_back(static_cast<int32_t>(from));
  }
  for (Neighbourhood& own : graph) {
    if (random() % 4 == 0) own.sources.push_back(-1);
    if (random() % 4 == 0) own.destinations.push_back(-1);
    std::shuffle(own.sources.begin(), own.sources.end(), random);
    std::shuffle(own.destinations.begin(), own.destinations.end(), random);
  }
  return graph;
}

// Calls `check` with all grids of up to 3 x 3 x 2 ranks, until one has failed.
template <class Check>
void for_small_grids(Check check) {
  for (int32_t x = 1; x <= 3; ++x)
    for (int32_t y = 1; y <= 3; ++y)
      for (int32_t z = 1; z <= 2; ++z)
        for (int periods = 0; periods < 8; ++periods) {
          check(Grid{{x, y, z}, {(periods & 1) != 0, (periods & 2) != 0, (periods & 4) != 0}});
          if (::testing::Test::HasFailure()) FAIL() << x << y << z << " periods " << periods;
        }
}

}  // namespace tutti::records
