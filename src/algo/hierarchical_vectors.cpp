#include "algo/hierarchical_phases.h"

#include <algorithm>
#include <utility>

#include "algo/fold.h"

namespace tutti::algo {
namespace {

using plan::Buffer;
using plan::Collective;
using plan::Region;

using Lists = std::vector<Regions>;

// Reduces each node's vectors to its leader, for one rail. Returns by node where the result is; if
// the leader is alone on its node, that is its own `in`. In a barrier members may meet instead;
// then each of them has a result.
Lists combined(Hierarchy& nodes, int32_t rail) {
  Lists result;
  for (int32_t node = 0; node < nodes.nodes(); ++node) {
    const std::vector<int32_t>& ranks = nodes.members(node);
    const int32_t leader = nodes.leader(node, rail);
    if (ranks.size() == 1) {
      result.push_back({nodes.piece(Buffer::in, leader, rail)});
      continue;
    }
    result.push_back({nodes.scratch_piece(leader)});
    Lists in, out;
    for (const int32_t rank : ranks) {
      in.push_back({nodes.piece(Buffer::in, rank, rail)});
      const bool has_own = nodes.meets_within() && rank != leader;
      out.push_back(has_own ? Regions{nodes.scratch_piece(rank)} : result.back());
    }
    nodes.embed_within(nodes.meets_within() ? Collective::barrier : Collective::reduce, ranks,
                       leader, in, out);
  }
  return result;
}

void make_plans(Hierarchy& nodes, Collective between, std::initializer_list<Collective> within) {
  nodes.between(between, plan::rooted(between) ? nodes.root_node() : 0);
  for (int32_t node = 0; node < nodes.nodes(); ++node) {
    for (int32_t rail = 0; rail < nodes.rails(); ++rail) {
      for (const Collective collective : within)
        nodes.within(collective, nodes.members(node), nodes.leader(node, rail));
    }
  }
  nodes.cut_vectors();
}

// One dissemination between nodes, for all members at once: a leader receives a vector, and every
// member of its node combines it with its own value.
class Dissemination {
 public:
  Dissemination(Hierarchy& nodes, int32_t rail)
      : nodes_(nodes), rail_(rail), frame_(fold(nodes.nodes(), {})) {
    for (int32_t node = 0; node < nodes_.nodes(); ++node) values_.push_back(of_the_node(node));
  }

  void run() {
    Arrivals folded;
    for (const Fold::Worker& worker : frame_.workers) {
      if (worker.folded != nobody)
        folded.push_back({worker.rank, arrival(worker.rank, worker.folded), true});
    }
    combine(folded, false);
    for (int32_t distance = 1; distance < frame_.size(); distance *= 2) {
      Arrivals arrivals;
      for (int32_t at = 0; at < frame_.size(); ++at) {
        const int32_t other =
            frame_.workers[static_cast<size_t>((at + frame_.size() - distance) % frame_.size())]
                .rank;
        const int32_t node = frame_.workers[static_cast<size_t>(at)].rank;
        arrivals.push_back({node, arrival(node, other), false});
      }
      combine(arrivals, distance * 2 == frame_.size());
    }
    for (const Fold::Worker& worker : frame_.workers) {
      if (worker.folded != nobody) close(worker.folded, worker.rank);
    }
  }

 private:
  struct Arrival {
    int32_t node;
    Region landed;
    bool behind;  // it combines ranks that come after the node's
  };
  using Arrivals = std::vector<Arrival>;

  // The allreduce within a node. Returns by member where the result is.
  std::vector<Region> of_the_node(int32_t node) {
    const std::vector<int32_t>& ranks = nodes_.members(node);
    Lists in, out;
    std::vector<Region> values;
    for (const int32_t rank : ranks) {
      in.push_back({nodes_.piece(Buffer::in, rank, rail_)});
      values.push_back(ranks.size() == 1 ? in.back().front() : nodes_.scratch_piece(rank));
      out.push_back({values.back()});
    }
    if (ranks.size() > 1) nodes_.embed_within(Collective::allreduce, ranks, ranks.front(), in, out);
    return values;
  }

  const Region& led(int32_t node) const {
    const std::vector<int32_t>& ranks = nodes_.members(node);
    const auto place =
        std::find(ranks.begin(), ranks.end(), nodes_.leader(node, rail_)) - ranks.begin();
    return values_[static_cast<size_t>(node)][static_cast<size_t>(place)];
  }

  Region arrival(int32_t node, int32_t other) {
    const Region landed = nodes_.scratch_piece(nodes_.leader(node, rail_));
    nodes_.plan().copy(landed, led(other));
    return landed;
  }

  void combine(const Arrivals& arrivals, bool last) {
    for (const Arrival& arrival : arrivals) {
      const std::vector<int32_t>& ranks = nodes_.members(arrival.node);
      for (size_t i = 0; i < ranks.size(); ++i) {
        Region& value = values_[static_cast<size_t>(arrival.node)][i];
        const Region result =
            last ? nodes_.piece(Buffer::out, ranks[i], rail_) : nodes_.scratch_piece(ranks[i]);
        const Region mine = std::exchange(value, result);
        nodes_.plan().reduce(result, arrival.behind ? std::vector{mine, arrival.landed}
                                                    : std::vector{arrival.landed, mine});
      }
    }
  }

  void close(int32_t folded, int32_t node) {
    const int32_t leader = nodes_.leader(folded, rail_);
    const Region result = nodes_.piece(Buffer::out, leader, rail_);
    nodes_.plan().copy(result, led(node));
    for (const int32_t rank : nodes_.members(folded)) {
      if (rank != leader) nodes_.plan().copy(nodes_.piece(Buffer::out, rank, rail_), result);
    }
  }

  Hierarchy& nodes_;
  const int32_t rail_;
  const Fold frame_;
  // Indexed by node and member: the vector combined so far.
  std::vector<std::vector<Region>> values_;
};

}  // namespace

std::vector<int32_t> takers(const Hierarchy& nodes, int32_t node, int32_t leader, int32_t root) {
  std::vector<int32_t> ranks = nodes.members(node);
  if (leader != root) std::erase(ranks, root);
  return ranks;
}

void hand_out(Hierarchy& nodes, const std::vector<int32_t>& ranks, int32_t leader, int32_t rail,
              const Region& source) {
  if (ranks.size() == 1) return;
  Lists in(ranks.size(), Regions{source}), out;
  for (const int32_t rank : ranks) out.push_back({nodes.piece(Buffer::out, rank, rail)});
  nodes.embed_within(Collective::bcast, ranks, leader, in, out);
}

void hierarchical_bcast(Hierarchy& nodes) {
  const int32_t root = nodes.plan().root;
  nodes.between(Collective::bcast, nodes.root_node());
  for (int32_t node = 0; node < nodes.nodes(); ++node) {
    for (int32_t rail = 0; rail < nodes.rails(); ++rail) {
      const int32_t leader = nodes.leader(node, rail);
      nodes.within(Collective::bcast, takers(nodes, node, leader, root), leader);
    }
  }
  nodes.cut_vectors();
  const auto source = [&](int32_t rank, int32_t rail) {
    return nodes.piece(rank == root ? Buffer::in : Buffer::out, rank, rail);
  };
  for (int32_t rail = 0; rail < nodes.rails(); ++rail) {
    const int32_t leader = nodes.leader(nodes.root_node(), rail);
    if (leader != root)
      nodes.plan().copy(nodes.piece(Buffer::out, leader, rail),
                        nodes.piece(Buffer::in, root, rail));
  }
  for (int32_t rail = 0; rail < nodes.rails(); ++rail) {
    const std::vector<int32_t> leaders = nodes.leaders(rail);
    Lists lists;
    for (const int32_t leader : leaders) lists.push_back({source(leader, rail)});
    nodes.embed_between(Collective::bcast, leaders, nodes.root_node(), lists, lists);
  }
  for (int32_t rail = 0; rail < nodes.rails(); ++rail) {
    for (int32_t node = 0; node < nodes.nodes(); ++node) {
      const int32_t leader = nodes.leader(node, rail);
      hand_out(nodes, takers(nodes, node, leader, root), leader, rail, source(leader, rail));
    }
  }
}

void hierarchical_reduce(Hierarchy& nodes) {
  make_plans(nodes, Collective::reduce, {Collective::reduce});
  const int32_t root = nodes.plan().root;
  std::vector<Lists> of_nodes;
  for (int32_t rail = 0; rail < nodes.rails(); ++rail) of_nodes.push_back(combined(nodes, rail));
  for (int32_t rail = 0; rail < nodes.rails(); ++rail) {
    const std::vector<int32_t> leaders = nodes.leaders(rail);
    const int32_t top = leaders[static_cast<size_t>(nodes.root_node())];
    const Region wanted = nodes.piece(Buffer::out, root, rail),
                 result = top == root ? wanted : nodes.scratch_piece(top);
    nodes.embed_between(Collective::reduce, leaders, nodes.root_node(),
                        of_nodes[static_cast<size_t>(rail)],
                        Lists(leaders.size(), Regions{result}));
    if (top != root) nodes.plan().copy(wanted, result);
  }
}

void hierarchical_allreduce(Hierarchy& nodes) {
  const Collective collective = nodes.plan().collective;  // a barrier is the allreduce of no bytes
  make_plans(nodes, collective,
             {nodes.meets_within() ? Collective::barrier : Collective::reduce, Collective::bcast});
  std::vector<Lists> of_nodes;
  for (int32_t rail = 0; rail < nodes.rails(); ++rail) of_nodes.push_back(combined(nodes, rail));
  for (int32_t rail = 0; rail < nodes.rails(); ++rail) {
    const std::vector<int32_t> leaders = nodes.leaders(rail);
    Lists results;
    for (const int32_t leader : leaders)
      results.push_back({nodes.piece(Buffer::out, leader, rail)});
    nodes.embed_between(collective, leaders, 0, of_nodes[static_cast<size_t>(rail)], results);
  }
  for (int32_t rail = 0; rail < nodes.rails(); ++rail) {
    for (int32_t node = 0; node < nodes.nodes(); ++node) {
      const int32_t leader = nodes.leader(node, rail);
      hand_out(nodes, nodes.members(node), leader, rail, nodes.piece(Buffer::out, leader, rail));
    }
  }
}

void hierarchical_dissemination(Hierarchy& nodes) {
  for (int32_t node = 0; node < nodes.nodes(); ++node) {
    nodes.within(Collective::allreduce, nodes.members(node), nodes.members(node).front());
  }
  nodes.cut_vectors();
  nodes.plan().commutative = true;
  for (int32_t rail = 0; rail < nodes.rails(); ++rail) Dissemination(nodes, rail).run();
}

}  // namespace tutti::algo
