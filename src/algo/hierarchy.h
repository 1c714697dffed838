// The frame of a hierarchical plan: its nodes, their leaders, and the plans that it is composed of.
// Internal to src/algo.
//
// A node's members are its ranks, in order; nodes are in the order of their first ranks. The work
// is divided among `rails`: each rail has a leader in every node, who exchanges with the leaders of
// the other nodes on the same rail. In a node with fewer members than rails, a member leads several
// rails. The root leads the first rail of its node. A leader leads on all levels of its node. If
// the host MPI exchanges between nodes, leaders are the same for all roots: each node's first rank
// (by_host.h).
//
// A Hierarchy belongs to the function that writes one plan and lives as long as that call; one
// thread. It refers to the request, which outlives it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "algo/algo.h"
#include "algo/compose.h"

namespace tutti::algo {

// The number of the level of nodes; -1 if there is none.
int32_t node_level(const placement::Levels& levels);

// The default algorithm between nodes, by the number of nodes.
std::string_view usual_between(plan::Collective collective, int32_t nodes);
// The spec for a collective within a group of these levels: `asked` if it serves the collective,
// else the default.
std::string_view spec_within(std::string_view asked, plan::Collective collective,
                             const placement::Levels& levels);

class Hierarchy {
 public:
  // One of the request's levels is that of nodes.
  explicit Hierarchy(const Request& request);

  plan::Plan& plan() { return plan_; }
  Composer& composer() { return composer_; }

  int32_t nodes() const { return static_cast<int32_t>(members_.size()); }
  const std::vector<int32_t>& members(int32_t node) const {
    return members_[static_cast<size_t>(node)];
  }
  int32_t size(int32_t node) const { return static_cast<int32_t>(members(node).size()); }
  int32_t root_node() const { return node_of_[static_cast<size_t>(plan_.root)]; }
  int32_t node_of(int32_t rank) const { return node_of_[static_cast<size_t>(rank)]; }
  // True if every node is a run of consecutive ranks.
  bool in_runs() const { return in_runs_; }

  int32_t rails() const { return rails_; }
  int32_t leader(int32_t node, int32_t rail) const;
  std::vector<int32_t> leaders(int32_t rail) const;
  // The members whose parts a rail moves; the rail's leader is the first of them. It may be empty
  // in a node with fewer members than rails.
  std::vector<int32_t> share(int32_t node, int32_t rail) const;

  // True if the members of a node meet in a barrier of the asked algorithm, which serves no reduce.
  bool meets_within() const;

  // The plan of a collective among some members of a node, rooted at the leader, and that among the
  // leaders. The Hierarchy owns both.
  const plan::Plan& within(plan::Collective collective, const std::vector<int32_t>& ranks,
                           int32_t leader);
  const plan::Plan& between(plan::Collective collective, int32_t root_node = 0);

  // Write a collective on vectors (barrier, bcast, reduce, allreduce, scan) into the plan. `in` and
  // `out` list each rank's blocks in order.
  void embed_within(plan::Collective collective, const std::vector<int32_t>& ranks, int32_t leader,
                    const std::vector<Regions>& in, const std::vector<Regions>& out);
  void embed_between(plan::Collective collective, const std::vector<int32_t>& ranks,
                     int32_t root_node, const std::vector<Regions>& in,
                     const std::vector<Regions>& out);

  // Chooses the number of the plan's blocks: each rail gets a piece of as many blocks as the plans
  // made so far need.
  void cut_vectors();
  // A rail's piece of a rank's vector, and a piece of unused `tmp`.
  plan::Region piece(plan::Buffer buffer, int32_t rank, int32_t rail) const;
  plan::Region scratch_piece(int32_t rank);

 private:
  // True for within, collective, ranks, root, levels.
  using Key = std::tuple<bool, plan::Collective, int32_t, int32_t, std::string>;
  const placement::Levels& levels_within(int32_t node);
  const plan::Plan& made(Key key, std::string_view spec, const placement::Levels& levels);

  const Request& request_;
  plan::Plan plan_;
  Composer composer_;
  std::vector<std::vector<int32_t>> members_;
  std::vector<int32_t> node_of_;
  bool in_runs_ = true, inner_levels_ = false;
  bool by_host_ = false;
  // Indexed by node: the levels of its members.
  std::vector<std::unique_ptr<const placement::Levels>> levels_;
  int32_t rails_ = 1;
  std::string_view between_spec_;
  std::map<Key, std::unique_ptr<const plan::Plan>> made_;
};

}  // namespace tutti::algo
