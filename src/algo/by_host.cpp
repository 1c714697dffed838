#include "algo/by_host.h"

#include <numeric>

#include "algo/form.h"
#include "algo/hierarchical_phases.h"

namespace tutti::algo {
namespace {

using plan::Buffer;
using plan::Collective;
using plan::Plan;
using plan::Region;

using Lists = std::vector<Regions>;

class Phases {
 public:
  // in_one: both phases are written to one plan. Else each phase is a plan, made by its own object.
  Phases(const Request& request, bool in_one)
      : nodes_(request), root_(request.root), in_one_(in_one) {
    const Collective collective = request.collective;
    if (in_one_) nodes_.between(collective, root_node());
    for (int32_t node = 0; node < nodes_.nodes(); ++node) {
      const int32_t leader = nodes_.leader(node, 0);
      if (combines()) nodes_.within(Collective::reduce, nodes_.members(node), leader);
      if (collective != Collective::reduce)
        nodes_.within(Collective::bcast, those_served(node), leader);
    }
    nodes_.cut_vectors();
    for (int32_t node = 0; node < nodes_.nodes(); ++node) given_.push_back({given(node)});
    for (int32_t node = 0; node < nodes_.nodes(); ++node) results_.push_back({result(node)});
  }

  void before() {
    if (!combines()) {
      const int32_t leader = nodes_.leader(root_node(), 0);
      if (leader != root_) plan().copy(vector(Buffer::out, leader), vector(Buffer::in, root_));
      return;
    }
    for (int32_t node = 0; node < nodes_.nodes(); ++node) {
      const std::vector<int32_t>& ranks = nodes_.members(node);
      if (ranks.size() == 1) continue;
      Lists in;
      for (const int32_t rank : ranks) in.push_back({vector(Buffer::in, rank)});
      nodes_.embed_within(Collective::reduce, ranks, nodes_.leader(node, 0), in,
                          Lists(ranks.size(), at(given_, node)));
    }
  }

  void stand_in() {
    nodes_.embed_between(plan().collective, nodes_.leaders(0), root_node(), given_, results_);
  }

  void after() {
    if (plan().collective == Collective::reduce) {
      const Region& led = at(results_, root_node()).front();
      if (led.rank != root_) plan().copy(vector(Buffer::out, root_), led);
      return;
    }
    for (int32_t node = 0; node < nodes_.nodes(); ++node) {
      hand_out(nodes_, those_served(node), nodes_.leader(node, 0), 0, at(results_, node).front());
    }
  }

  Plan& plan() { return nodes_.plan(); }

 private:
  static const Regions& at(const Lists& lists, int32_t node) {
    return lists[static_cast<size_t>(node)];
  }
  // A barrier counts as combining: its vectors have no bytes.
  bool combines() { return plan().collective != Collective::bcast; }
  int32_t root_node() { return plan::rooted(plan().collective) ? nodes_.root_node() : 0; }
  std::vector<int32_t> those_served(int32_t node) {
    return combines() ? nodes_.members(node) : takers(nodes_, node, nodes_.leader(node, 0), root_);
  }
  Region vector(Buffer buffer, int32_t rank) const { return nodes_.piece(buffer, rank, 0); }

  // The vector that a leader passes to the host.
  Region given(int32_t node) {
    const int32_t leader = nodes_.leader(node, 0);
    if (!combines()) return vector(leader == root_ ? Buffer::in : Buffer::out, leader);
    if (nodes_.size(node) == 1) return vector(Buffer::in, leader);
    // The algorithm in the host's place still reads this vector while it writes results to `out`.
    return in_one_ ? nodes_.scratch_piece(leader) : vector(Buffer::out, leader);
  }
  // The vector that a leader gets back. In a reduce only one leader gets one.
  Region result(int32_t node) {
    const int32_t leader = nodes_.leader(node, 0);
    if (!combines()) return at(given_, node).front();
    const bool lent = plan().collective == Collective::reduce && leader != root_;
    return lent && in_one_ ? nodes_.scratch_piece(leader) : vector(Buffer::out, leader);
  }

  Hierarchy nodes_;
  const int32_t root_;
  const bool in_one_;
  Lists given_, results_;  // indexed by node
};

}  // namespace

bool host_serves(Collective collective) {
  return collective == Collective::barrier || collective == Collective::bcast ||
         collective == Collective::reduce || collective == Collective::allreduce;
}

bool by_host(std::string_view spec) {
  const Algorithm& algorithm = named(spec);
  return algorithm.is_composed && form_of(algorithm, spec, 1).between == host_word;
}

std::vector<int32_t> leaders(const placement::Levels& levels, int ranks) {
  std::vector<int32_t> result;
  const int32_t at = node_level(levels);
  if (at < 0) {
    result.resize(static_cast<size_t>(ranks));
    std::iota(result.begin(), result.end(), 0);
    return result;
  }
  const std::vector<int32_t> node_of = levels.all()[static_cast<size_t>(at)].group_of.values();
  for (int32_t rank = 0; rank < ranks; ++rank) {
    // Nodes are numbered in the order of their first ranks.
    if (node_of[static_cast<size_t>(rank)] == static_cast<int32_t>(result.size()))
      result.push_back(rank);
  }
  return result;
}

Plan phase_by_host(Phase phase, Collective collective, std::string_view spec, int ranks, int root,
                   const placement::Levels& levels) {
  const Form form = form_of(named(spec), spec, ranks);
  const Request request{collective, ranks, root, levels, form};
  check_parts(request);
  Plan plan;
  if (node_level(levels) < 0) {
    if (phase == Phase::standing_in)
      plan = generate(collective, usual_between(collective, ranks), ranks, root, levels);
    plan.collective = collective;
    plan.ranks = ranks;
    plan.root = root;
  } else {
    Phases phases(request, phase == Phase::standing_in);
    if (phase != Phase::after) phases.before();
    if (phase == Phase::standing_in) phases.stand_in();
    if (phase != Phase::before) phases.after();
    plan = std::move(phases.plan());
  }
  plan.algorithm = std::string(spec);
  return plan;
}

}  // namespace tutti::algo
