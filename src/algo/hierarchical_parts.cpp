#include "algo/hierarchical_phases.h"

namespace tutti::algo {
namespace {

using plan::Buffer;
using plan::Collective;
using plan::Region;

std::vector<Regions> parts_of_nodes(const Hierarchy& nodes) {
  std::vector<Regions> parts;
  for (int32_t node = 0; node < nodes.nodes(); ++node)
    parts.push_back(parts_of(nodes.members(node)));
  return parts;
}

// `collect` gathers the parts of some ranks of a node at their leader, `distribute` scatters them
// back. The i-th rank's part is the i-th block of `list`.
void collect(Hierarchy& nodes, const std::vector<int32_t>& ranks, int32_t leader,
             const Regions& list) {
  const Locate in = [&](int32_t rank, int64_t, Regions& regions) {
    append(regions, plan::in(ranks[static_cast<size_t>(rank)]));
  };
  const Locate out = [&](int32_t, int64_t item, Regions& regions) {
    append_slice(regions, list, static_cast<int32_t>(item), 1);
  };
  nodes.composer().embed({nodes.within(Collective::gather, ranks, leader), ranks, in, out});
}

void distribute(Hierarchy& nodes, const std::vector<int32_t>& ranks, int32_t leader,
                const Regions& list) {
  const Locate in = [&](int32_t, int64_t item, Regions& regions) {
    append_slice(regions, list, static_cast<int32_t>(item), 1);
  };
  const Locate out = [&](int32_t rank, int64_t, Regions& regions) {
    append(regions, plan::out(ranks[static_cast<size_t>(rank)]));
  };
  nodes.composer().embed({nodes.within(Collective::scatter, ranks, leader), ranks, in, out});
}

// Each rank of a part has one list, for every item.
Locate one_each(const std::vector<Regions>& lists) {
  return [&lists](int32_t rank, int64_t, Regions& regions) {
    for (const Region& region : lists[static_cast<size_t>(rank)]) append(regions, region);
  };
}

// The parts that a rail moves: those of its share of each node, node by node.
struct Rail {
  Rail(const Hierarchy& nodes, int32_t number) : leaders(nodes.leaders(number)) {
    std::vector<int32_t> ranks;
    for (int32_t node = 0; node < nodes.nodes(); ++node) {
      shares.push_back(nodes.share(node, number));
      firsts.push_back(static_cast<int32_t>(ranks.size()));
      ranks.insert(ranks.end(), shares.back().begin(), shares.back().end());
    }
    count = static_cast<int32_t>(ranks.size());
    parts = parts_of(ranks);
  }

  int32_t share_size(int64_t node) const {
    return static_cast<int32_t>(shares[static_cast<size_t>(node)].size());
  }
  // Appends the parts of one node; `list` has all parts of the rail.
  void append_share(Regions& regions, const Regions& list, int64_t node) const {
    append_slice(regions, list, firsts[static_cast<size_t>(node)], share_size(node));
  }

  std::vector<int32_t> leaders;
  std::vector<std::vector<int32_t>> shares;
  std::vector<int32_t> firsts;  // indexed by node: the number of parts of the nodes before it
  int32_t count = 0;
  Regions parts;
};

std::vector<Rail> rails_of(const Hierarchy& nodes) {
  std::vector<Rail> rails;
  for (int32_t rail = 0; rail < nodes.rails(); ++rail) rails.emplace_back(nodes, rail);
  return rails;
}

// A rail of an allgather. If nodes are runs of ranks, a node's parts are a run too, and leaders
// collect them in `out`; else in `tmp`, node by node, so that no message needs packing.
class Collection {
 public:
  Collection(Hierarchy& nodes, int32_t number) : nodes_(nodes), rail_(nodes, number) {
    for (const int32_t leader : rail_.leaders) {
      lists_.push_back(nodes.in_runs() ? parts_in(Buffer::out, leader, rail_.parts)
                                       : Regions{nodes.composer().scratch(leader, rail_.count)});
    }
  }

  void within_nodes() {
    for (int32_t node = 0; node < nodes_.nodes(); ++node) {
      const std::vector<int32_t>& share = rail_.shares[static_cast<size_t>(node)];
      Regions own;
      rail_.append_share(own, list(node), node);
      if (!share.empty()) collect(nodes_, share, leader(node), own);
    }
  }

  void between_nodes() {
    const Locate locate = [&](int32_t rank, int64_t item, Regions& regions) {
      rail_.append_share(regions, list(rank), item);
    };
    nodes_.composer().embed(
        {nodes_.between(Collective::allgather), rail_.leaders, locate, locate, true, true});
  }

  void to_members() {
    for (int32_t node = 0; node < nodes_.nodes(); ++node) {
      const std::vector<int32_t>& ranks = nodes_.members(node);
      nodes_.composer().copy(parts_in(Buffer::out, leader(node), rail_.parts), list(node));
      if (ranks.size() == 1) continue;
      const std::vector<Regions> in(ranks.size(), list(node));
      std::vector<Regions> out;
      for (const int32_t rank : ranks) out.push_back(parts_in(Buffer::out, rank, rail_.parts));
      nodes_.embed_within(Collective::bcast, ranks, leader(node), in, out);
    }
  }

 private:
  const Regions& list(int32_t node) const { return lists_[static_cast<size_t>(node)]; }
  int32_t leader(int32_t node) const { return rail_.leaders[static_cast<size_t>(node)]; }

  Hierarchy& nodes_;
  const Rail rail_;
  std::vector<Regions> lists_;  // indexed by node: all the rail's parts at its leader
};

}  // namespace

void hierarchical_gather(Hierarchy& nodes) {
  const int32_t root = nodes.plan().root, root_node = nodes.root_node();
  const std::vector<Regions> parts = parts_of_nodes(nodes);
  std::vector<Regions> collected;  // indexed by node, at its leader
  for (int32_t node = 0; node < nodes.nodes(); ++node) {
    const int32_t leader = nodes.leader(node, 0);
    const bool alone = nodes.size(node) == 1 && node != root_node;
    if (alone) {
      collected.push_back({plan::in(leader)});
    } else if (node == root_node) {
      collected.push_back(parts_in(Buffer::out, root, parts[static_cast<size_t>(node)]));
    } else {
      collected.push_back({nodes.composer().scratch(leader, nodes.size(node))});
    }
    if (!alone) collect(nodes, nodes.members(node), leader, collected.back());
  }
  const Locate out = [&](int32_t, int64_t item, Regions& regions) {
    append_parts(regions, Buffer::out, root, parts[static_cast<size_t>(item)]);
  };
  nodes.composer().embed({nodes.between(Collective::gather, root_node), nodes.leaders(0),
                          one_each(collected), out, true, true});
}

void hierarchical_scatter(Hierarchy& nodes) {
  const int32_t root = nodes.plan().root, root_node = nodes.root_node();
  const std::vector<Regions> parts = parts_of_nodes(nodes);
  std::vector<Regions> handed;  // indexed by node, to its leader
  for (int32_t node = 0; node < nodes.nodes(); ++node) {
    const int32_t leader = nodes.leader(node, 0);
    if (node == root_node) {
      handed.push_back(parts_in(Buffer::in, root, parts[static_cast<size_t>(node)]));
    } else if (nodes.size(node) == 1) {
      handed.push_back({plan::out(leader)});
    } else {
      handed.push_back({nodes.composer().scratch(leader, nodes.size(node))});
    }
  }
  const Locate in = [&](int32_t, int64_t item, Regions& regions) {
    append_parts(regions, Buffer::in, root, parts[static_cast<size_t>(item)]);
  };
  nodes.composer().embed({nodes.between(Collective::scatter, root_node), nodes.leaders(0), in,
                          one_each(handed), true, true});
  for (int32_t node = 0; node < nodes.nodes(); ++node) {
    const bool there = nodes.size(node) == 1 && node != root_node;
    if (!there)
      distribute(nodes, nodes.members(node), nodes.leader(node, 0),
                 handed[static_cast<size_t>(node)]);
  }
}

void hierarchical_allgather(Hierarchy& nodes) {
  std::vector<Collection> rails;
  for (int32_t rail = 0; rail < nodes.rails(); ++rail) rails.emplace_back(nodes, rail);
  for (Collection& rail : rails) rail.within_nodes();
  for (Collection& rail : rails) rail.between_nodes();
  for (Collection& rail : rails) rail.to_members();
}

void hierarchical_reduce_scatter(Hierarchy& nodes) {
  const std::vector<Rail> rails = rails_of(nodes);
  std::vector<std::vector<Regions>> combined(rails.size()),
      results(rails.size());  // indexed by rail and node
  for (size_t number = 0; number < rails.size(); ++number) {
    const Rail& rail = rails[number];
    for (int32_t node = 0; node < nodes.nodes(); ++node) {
      const std::vector<int32_t>& ranks = nodes.members(node);
      const int32_t leader = rail.leaders[static_cast<size_t>(node)];
      std::vector<Regions> in;
      for (const int32_t rank : ranks) in.push_back(parts_in(Buffer::in, rank, rail.parts));
      if (ranks.size() == 1) {
        combined[number].push_back(in.front());
        continue;
      }
      combined[number].push_back({nodes.composer().scratch(leader, rail.count)});
      nodes.embed_within(Collective::reduce, ranks, leader, in,
                         std::vector<Regions>(ranks.size(), combined[number].back()));
    }
  }
  for (size_t number = 0; number < rails.size(); ++number) {
    const Rail& rail = rails[number];
    for (int32_t node = 0; node < nodes.nodes(); ++node) {
      const int32_t leader = rail.leaders[static_cast<size_t>(node)], size = rail.share_size(node);
      results[number].emplace_back();
      append(results[number].back(),
             size == 1 ? plan::out(leader) : nodes.composer().scratch(leader, size));
    }
    const Locate in = [&](int32_t rank, int64_t item, Regions& regions) {
      rail.append_share(regions, combined[number][static_cast<size_t>(rank)], item);
    };
    nodes.composer().embed({nodes.between(Collective::reduce_scatter), rail.leaders, in,
                            one_each(results[number]), false, true});
  }
  for (size_t number = 0; number < rails.size(); ++number) {
    const Rail& rail = rails[number];
    for (size_t node = 0; node < rail.shares.size(); ++node) {
      if (rail.shares[node].size() > 1)
        distribute(nodes, rail.shares[node], rail.leaders[node], results[number][node]);
    }
  }
}

}  // namespace tutti::algo
