#include "algo/hierarchical_phases.h"

namespace tutti::algo {
namespace {

using plan::Buffer;
using plan::Collective;
using plan::Region;

// All parts from one node for another are one message, from leader to leader: the parts of the
// first rank for all ranks of the other node, then those of the second rank, and so on. If a node
// has one rank, its `in` and `out` have the parts in this order already.
class Exchange {
 public:
  explicit Exchange(Hierarchy& nodes) : nodes_(nodes), leaders_(nodes.leaders(0)) {
    for (int32_t node = 0; node < nodes.nodes(); ++node) {
      before_.push_back(node == 0 ? 0 : before_.back() + nodes.size(node - 1));
      parts_.push_back(parts_of(nodes.members(node)));
      const int32_t blocks = nodes.size(node) == 1 ? 0 : nodes.size(node) * others(node);
      sent_.push_back(nodes.composer().scratch(leaders_[static_cast<size_t>(node)], blocks));
      received_.push_back(nodes.composer().scratch(leaders_[static_cast<size_t>(node)], blocks));
    }
  }

  void run() {
    for (int32_t node = 0; node < nodes_.nodes(); ++node) {
      if (nodes_.size(node) > 1) collect(node);
    }
    for (int32_t node = 0; node < nodes_.nodes(); ++node) within(node);
    between();
    for (int32_t node = 0; node < nodes_.nodes(); ++node) {
      if (nodes_.size(node) > 1) distribute(node);
    }
  }

 private:
  int32_t others(int32_t node) const { return nodes_.plan().ranks - nodes_.size(node); }

  // `all` has places for the parts of all other nodes in a leader's `tmp`; returns those of
  // `other`.
  Region for_node(const Region& all, int32_t node, int32_t other) const {
    const int32_t before =
        before_[static_cast<size_t>(other)] - (other > node ? nodes_.size(node) : 0);
    return plan::tmp(all.rank, all.first + nodes_.size(node) * before,
                     nodes_.size(node) * nodes_.size(other));
  }

  // Appends all parts that a member has for other nodes, or gets from them, node by node.
  void append_others(Regions& regions, Buffer buffer, int32_t rank, int32_t node) const {
    for (int32_t other = 0; other < nodes_.nodes(); ++other) {
      if (other != node) append_parts(regions, buffer, rank, parts_[static_cast<size_t>(other)]);
    }
  }

  int32_t member(int32_t node, int64_t place) const {
    return nodes_.members(node)[static_cast<size_t>(place)];
  }

  void collect(int32_t node) {
    const Locate in = [&](int32_t rank, int64_t, Regions& regions) {
      append_others(regions, Buffer::in, member(node, rank), node);
    };
    const Locate out = [&](int32_t, int64_t item, Regions& regions) {
      for (int32_t other = 0; other < nodes_.nodes(); ++other) {
        if (other == node) continue;
        const int32_t size = nodes_.size(other),
                      first = for_node(sent_[static_cast<size_t>(node)], node, other).first;
        append(regions, plan::tmp(leaders_[static_cast<size_t>(node)],
                                  first + static_cast<int32_t>(item) * size, size));
      }
    };
    embed(Collective::gather, node, in, out);
  }

  void within(int32_t node) {
    const auto size = nodes_.size(node);
    const Locate in = [&](int32_t, int64_t item, Regions& regions) {
      append(regions, plan::in(member(node, item / size), member(node, item % size)));
    };
    const Locate out = [&](int32_t, int64_t item, Regions& regions) {
      append(regions, plan::out(member(node, item % size), member(node, item / size)));
    };
    embed(Collective::alltoall, node, in, out);
  }

  void between() {
    const int32_t count = nodes_.nodes();
    const auto locate = [this](Buffer buffer, const std::vector<Region>& all, int32_t node,
                               int32_t other, Regions& regions) {
      if (node == other) return;
      const auto at = static_cast<size_t>(node);
      if (nodes_.size(node) == 1)
        return append_parts(regions, buffer, leaders_[at], parts_[static_cast<size_t>(other)]);
      append(regions, for_node(all[at], node, other));
    };
    const Locate in = [&](int32_t rank, int64_t item, Regions& regions) {
      locate(Buffer::in, sent_, rank, static_cast<int32_t>(item % count), regions);
    };
    const Locate out = [&](int32_t rank, int64_t item, Regions& regions) {
      locate(Buffer::out, received_, rank, static_cast<int32_t>(item / count), regions);
    };
    nodes_.composer().embed({nodes_.between(Collective::alltoall), leaders_, in, out, false, true});
  }

  void distribute(int32_t node) {
    const int32_t size = nodes_.size(node);
    const Locate in = [&](int32_t, int64_t item, Regions& regions) {
      for (int32_t other = 0; other < nodes_.nodes(); ++other) {
        if (other == node) continue;
        Region from = for_node(received_[static_cast<size_t>(node)], node, other);
        from.first += static_cast<int32_t>(item);
        from.count = nodes_.size(other);
        from.stride = from.count == 1 ? 1 : size;
        append(regions, from);
      }
    };
    const Locate out = [&](int32_t rank, int64_t, Regions& regions) {
      append_others(regions, Buffer::out, member(node, rank), node);
    };
    embed(Collective::scatter, node, in, out);
  }

  void embed(Collective collective, int32_t node, const Locate& in, const Locate& out) {
    const std::vector<int32_t>& ranks = nodes_.members(node);
    nodes_.composer().embed(
        {nodes_.within(collective, ranks, leaders_[static_cast<size_t>(node)]), ranks, in, out});
  }

  Hierarchy& nodes_;
  const std::vector<int32_t> leaders_;
  std::vector<int32_t> before_;          // indexed by node: the number of ranks on nodes before it
  std::vector<Regions> parts_;           // indexed by node: its ranks' parts
  std::vector<Region> sent_, received_;  // indexed by node, at its leader
};

}  // namespace

void hierarchical_alltoall(Hierarchy& nodes) { Exchange(nodes).run(); }

}  // namespace tutti::algo
