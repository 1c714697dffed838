// The frame of a hierarchical plan: its nodes, who leads them, and the plans that it is made of.
// Internal to src/algo.
//
// A node's members are its ranks, in order; nodes stand in the order of their first ranks. Work is
// divided among `rails`: each has a leader in every node, who exchanges with its counterparts on
// the same rail. A node with fewer members than rails has leaders on several. The root leads the
// first rail of its node, and whoever leads does so on all the node's levels. Where the host MPI
// exchanges between nodes, leaders are the same for all roots: each node's first rank (by_host.h).
// Of one plan that is being made; one thread.
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

// The index of the level of nodes; -1 if there is none.
int32_t node_level(const placement::Levels& levels);

// What is between nodes where users do not say, by the number of nodes.
std::string_view usual_between(plan::Collective collective, int32_t nodes);
// The spec of a collective within a group of these levels: `asked` where that serves it.
std::string_view spec_within(std::string_view asked, plan::Collective collective,
                             const placement::Levels& levels);

class Hierarchy {
 public:
  // The levels must have a level of nodes.
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
  // Nodes are runs of neighbouring ranks.
  bool in_runs() const { return in_runs_; }

  int32_t rails() const { return rails_; }
  int32_t leader(int32_t node, int32_t rail) const;
  std::vector<int32_t> leaders(int32_t rail) const;
  // The members whose parts a rail moves; its leader is the first of them. None, in a node with
  // fewer members than rails.
  std::vector<int32_t> share(int32_t node, int32_t rail) const;

  // The plans of a collective among some members of a node, rooted at the leader, and among the
  // leaders.
  const plan::Plan& within(plan::Collective collective, const std::vector<int32_t>& ranks,
                           int32_t leader);
  const plan::Plan& between(plan::Collective collective, int32_t root_node = 0);

  // A collective on vectors (barrier, bcast, reduce, allreduce, scan): lists of each rank's blocks
  // in order.
  void embed_within(plan::Collective collective, const std::vector<int32_t>& ranks, int32_t leader,
                    const std::vector<Regions>& in, const std::vector<Regions>& out);
  void embed_between(plan::Collective collective, const std::vector<int32_t>& ranks,
                     int32_t root_node, const std::vector<Regions>& in,
                     const std::vector<Regions>& out);

  // Cuts the vectors so that each rail has its piece, of as many blocks as the plans made so far
  // need.
  void cut_vectors();
  // The piece of a rail.
  plan::Region piece(plan::Buffer buffer, int32_t rank, int32_t rail) const;
  plan::Region scratch_piece(int32_t rank);

 private:
  using Key = std::tuple<bool, plan::Collective, int32_t, int32_t,
                         std::string>;  // within, of what, ranks, root, levels
  const placement::Levels& levels_within(int32_t node);
  const plan::Plan& made(Key key, std::string_view spec, const placement::Levels& levels);

  const Request& request_;
  plan::Plan plan_;
  Composer composer_;
  std::vector<std::vector<int32_t>> members_;
  std::vector<int32_t> node_of_;
  bool in_runs_ = true, inner_levels_ = false;
  bool by_host_ = false;
  std::vector<std::unique_ptr<const placement::Levels>> levels_;  // by node; of all its members
  int32_t rails_ = 1;
  std::string_view between_spec_;
  std::map<Key, std::unique_ptr<const plan::Plan>> made_;
};

}  // namespace tutti::algo
