#include "algo/algo.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "algo/all_read_all.h"
#include "algo/bruck.h"
#include "algo/dissemination.h"
#include "algo/doubling.h"
#include "algo/form.h"
#include "algo/hierarchical.h"
#include "algo/parts.h"
#include "algo/parts_tree.h"
#include "algo/push.h"
#include "algo/reduce_then_scatter.h"
#include "algo/ring.h"
#include "algo/scan.h"
#include "algo/staggered.h"
#include "algo/tiled.h"
#include "algo/token_ring.h"
#include "algo/tree.h"
#include "base/error.h"

namespace tutti::algo {
namespace {

using plan::Collective;

using Collectives = std::vector<Collective>;

const Collectives all_collectives = {
    Collective::barrier,        Collective::bcast,   Collective::reduce,    Collective::allreduce,
    Collective::gather,         Collective::scatter, Collective::allgather, Collective::alltoall,
    Collective::reduce_scatter, Collective::scan,    Collective::exscan};
const Collectives tree_collectives = {Collective::barrier, Collective::bcast,
                                      Collective::reduce,  Collective::allreduce,
                                      Collective::gather,  Collective::scatter};

const Collectives levels_collectives = {
    Collective::barrier, Collective::bcast,   Collective::reduce,        Collective::allreduce,
    Collective::gather,  Collective::scatter, Collective::reduce_scatter};

plan::Plan of_branches(const Request& request, const Branch& up, const Branch& down) {
  if (plan::parted(request.collective))
    return parts_tree(request.collective, request.ranks, request.root, up);
  return tree(request.collective, request.ranks, request.root, up, down,
              request.form.stepwise ? Combining::stepwise : Combining::at_once);
}

// Ignores the machine's levels.
plan::Plan one_tree(const Request& request, TreeShape shape) {
  const Branch branch = branch_of(request.ranks, request.root, {}, shape, shape);
  return of_branches(request, branch, branch);
}

plan::Plan any_tree(const Request& request) { return one_tree(request, {request.form.degree}); }

plan::Plan binary_tree(const Request& request) {
  return one_tree(request, {.degree = 2, .binary = true});
}

// The tree by which the result of `up` is handed down.
Branch way_down(const Request& request, const Branch& up) {
  const Form& form = request.form;
  if (!form.one_stage && !form.two_stage) return up;
  const bool by_groups = form.two_stage && !request.levels.one_level();
  const placement::Levels groups =
      by_groups ? placement::Levels({request.levels.all().front()}) : placement::Levels{};
  return branch_of(request.ranks, up.leader, groups, {0}, {0});
}

plan::Plan tree_on_levels(const Request& request) {
  const Form& form = request.form;
  const int leader = form.fixed ? 0 : request.root;
  const Branch up = branch_of(request.ranks, leader, request.levels, form.outer, form.inner);
  const Branch down = way_down(request, up);
  plan::Plan plan;
  if (request.collective == Collective::reduce_scatter) {
    Request reduce = request;
    reduce.collective = Collective::reduce;
    plan = reduce_then_scatter(of_branches(reduce, up, up), down);
  } else {
    plan = of_branches(request, up, down);
  }
  plan.commutative = plan::combines(request.collective) && !request.levels.in_rank_order();
  return form.push ? pushed(std::move(plan)) : plan;
}

// The algorithm for all rank counts, roots and elements. It needs little room in the slots.
plan::Written flat(const Request& request) {
  if (plan::parted(request.collective))
    return one_hand_over(request.collective, request.ranks, request.root, most_window);
  return plan::is_scan(request.collective) ? scan_chain(request.collective, request.ranks)
                                           : one_tree(request, {0});
}

plan::Written one_step(const Request& request) {
  const int ranks = request.ranks;
  if (plan::parted(request.collective))
    return one_hand_over(request.collective, ranks, request.root, ranks + ranks % 2);
  return plan::is_scan(request.collective) ? scan_all_read(request.collective, ranks)
                                           : all_read_all(request.collective, ranks);
}

plan::Plan by_doubling(const Request& request) {
  return plan::is_scan(request.collective)
             ? scan_doubling(request.collective, request.ranks)
             : doubling(request.collective, request.ranks, request.levels);
}

// The groups of some ranks on the levels from `level` on. A level that does not divide them is left
// out.
std::vector<TileGroup> tile_groups(const std::vector<int32_t>& ranks,
                                   const std::vector<std::vector<int32_t>>& groups_by_level,
                                   size_t level) {
  if (level == groups_by_level.size()) return {{ranks, {}}};
  std::map<int32_t, std::vector<int32_t>> members;  // group numbers follow the first ranks
  for (const int32_t rank : ranks)
    members[groups_by_level[level][static_cast<size_t>(rank)]].push_back(rank);
  if (members.size() == 1) return tile_groups(ranks, groups_by_level, level + 1);
  std::vector<TileGroup> groups;
  for (const auto& [number, in_group] : members) {
    std::vector<TileGroup> inner = tile_groups(in_group, groups_by_level, level + 1);
    groups.push_back(inner.size() == 1 ? std::move(inner.front())
                                       : TileGroup{in_group, std::move(inner)});
  }
  return groups;
}

plan::Plan in_tiles(const Request& request) {
  const bool by_groups = request.form.levels && !request.levels.one_level();
  std::vector<int32_t> ranks(static_cast<size_t>(request.ranks));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<std::vector<int32_t>> groups_by_level;
  for (const placement::SharedLevel& level : request.levels.all())
    if (by_groups) groups_by_level.push_back(level.group_of.values());
  const Tiling tiling{tile_groups(ranks, groups_by_level, 0), request.form.cyclic,
                      request.form.one_stage};
  plan::Plan plan = tiled(request.collective, request.ranks, request.root, tiling);
  plan.commutative =
      (tiling.cyclic && request.ranks > 1) || (by_groups && !request.levels.in_rank_order());
  return plan;
}

plan::Written directly(const Request& request) {
  if (request.form.served && request.collective != Collective::alltoall)
    throw Error(Code::invalid_argument,
                "algorithm 'direct': servers exchange the parts of an "
                "alltoall alone; leave out 'served'");
  const int window = request.form.degree + request.form.degree % 2;
  return one_hand_over(request.collective, request.ranks, request.root, window);
}

void check_request(const Algorithm& algorithm, const Request& request) {
  const std::string collective{plan::name(request.collective)};
  if (!serves(algorithm, request.collective)) {
    throw Error(Code::invalid_argument,
                "algorithm '" + std::string(algorithm.name) + "' does not serve " + collective);
  }
  const int ranks = request.ranks;
  if (ranks < 1 || ranks > plan::max_ranks) {
    throw Error(Code::invalid_argument, "rank count " + std::to_string(ranks) +
                                            " is out of range; 1 to " +
                                            std::to_string(plan::max_ranks) + " are possible");
  }
  const bool has_root = plan::rooted(request.collective);
  if (request.root < 0 || request.root >= ranks || (!has_root && request.root != 0)) {
    throw Error(Code::invalid_argument, has_root ? "root " + std::to_string(request.root) +
                                                       " is out of range; ranks are 0 to " +
                                                       std::to_string(ranks - 1)
                                                 : collective + " has no root; leave it out");
  }
  if (!request.levels.one_level() &&
      request.levels.all().front().group_of.size() != static_cast<size_t>(ranks)) {
    const size_t others = request.levels.all().front().group_of.size();
    throw Error(Code::invalid_argument, "the levels are of " + std::to_string(others) +
                                            " ranks, the plan is of " + std::to_string(ranks) +
                                            "; give each rank its group");
  }
}

std::vector<Algorithm> table() {
  using C = Collective;
  return {
      {"flat",
       "direct",
       "every rank hands its data to the ranks that want it, through the root if there is one",
       false,
       0,
       all_collectives,
       flat,
       {},
       {},
       false,
       Order::folded},
      {"binomial",
       "tree",
       "binomial tree, in rank order",
       false,
       2,
       tree_collectives,
       any_tree,
       {"stepwise"},
       {"binomial:stepwise"}},
      {"binary",
       "tree",
       "binary tree, in rank order: no rank sends to more than two others, for long messages in "
       "segments (MPICH2)",
       false,
       0,
       tree_collectives,
       binary_tree,
       {"stepwise"},
       {"binary:stepwise"}},
      {"nary",
       "tree",
       "tree of degree N: a leader combines N - 1 others per level (HMPI 2.2)",
       true,
       4,
       tree_collectives,
       any_tree,
       {"stepwise"},
       {"nary:4:stepwise"}},
      {"levels",
       "tree",
       "trees within the machine's groups and between them; by default flat within, binomial "
       "between (HMPI 2.2, NUMACol 3)",
       false,
       0,
       levels_collectives,
       tree_on_levels,
       {"SHAPE", "stepwise", "fixed", "one_stage", "two_stage", "push", "subphases=C"},
       {"levels:flat", "levels:binomial", "levels:stepwise", "levels:binomial:stepwise", "levels:4",
        "levels:binomial:one_stage", "levels:binomial:two_stage", "levels:fixed", "levels:push",
        "levels:flat:push"},
       true,
       Order::kept_in_runs},
      {"direct",
       "direct",
       "every rank hands its parts to the ranks that want them, N at a time; between nodes servers "
       "may exchange those of an alltoall (served)",
       true,
       most_window,
       {C::gather, C::scatter, C::allgather, C::alltoall, C::reduce_scatter},
       directly,
       {"served"}},
      {"token_ring",
       "direct",
       "as direct, but of the ranks outside the root's node only the N that hold a token copy "
       "(NUMACol 3.2)",
       true,
       1,
       {C::gather, C::scatter},
       [](const Request& r) {
         const bool gathers = r.collective == C::gather;
         return token_ring(r.collective, r.ranks, r.root,
                           {r.form.degree, r.form.threshold, gathers ? r.form.pull : r.form.push,
                            r.form.within_nodes},
                           r.levels);
       },
       {"threshold=BYTES", "push", "pull", "within"},
       {"token_ring:2:within", "token_ring:4:within", "token_ring:8:within", "token_ring:16:within",
        "token_ring:1:threshold=32K", "token_ring:1:threshold=32K:within", "token_ring:1:push",
        "token_ring:1:pull"},
       true,
       Order::kept,
       true,
       1},
      {"all_read_all",
       "direct",
       "every rank copies its data to its slot and reads all it wants in one step; for a few ranks "
       "and bytes",
       false,
       0,
       {C::barrier, C::allreduce, C::allgather, C::alltoall, C::reduce_scatter, C::scan, C::exscan},
       one_step,
       {},
       {},
       false,
       Order::folded},
      {"ring",
       "ring",
       "every rank reads from its left neighbour what that rank read or combined one step before",
       false,
       0,
       {C::allgather, C::reduce_scatter, C::allreduce, C::bcast},
       [](const Request& r) { return ring(r.collective, r.ranks, r.root, r.levels); },
       {},
       {},
       true,
       Order::lost},
      {"chain",
       "ring",
       "every rank combines its left neighbour's result with its own vector (linear-time scan)",
       false,
       0,
       {C::scan, C::exscan},
       [](const Request& r) { return scan_chain(r.collective, r.ranks); },
       {},
       {},
       false,
       Order::folded},
      {"tiled",
       "tiled",
       "every rank combines one tile of the vector for all ranks, for long vectors (HMPI 2.4)",
       false,
       0,
       {C::allreduce, C::reduce},
       in_tiles,
       {"cyclic", "levels", "one_stage"},
       {"tiled:cyclic", "tiled:levels", "tiled:levels:one_stage"},
       true,
       Order::folded},
      {"doubling",
       "dissemination",
       "pairs at doubling distances exchange all they have",
       false,
       0,
       {C::barrier, C::allreduce, C::allgather, C::scan, C::exscan},
       by_doubling,
       {},
       {},
       true,
       Order::kept_in_runs},
      {"halving",
       "dissemination",
       "pairs exchange halves, for long vectors (Rabenseifner; van de Geijn)",
       false,
       0,
       {C::allreduce, C::reduce, C::reduce_scatter, C::bcast},
       [](const Request& r) { return halving(r.collective, r.ranks, r.root, r.levels); },
       {},
       {},
       true,
       Order::kept_in_runs},
      {"dissemination",
       "dissemination",
       "every rank combines what ranks at doubling distances have; for floating point only in "
       "experiments, by the word any_bits (HMPI 2.3)",
       false,
       0,
       {C::barrier, C::allreduce},
       [](const Request& r) { return dissemination(r.collective, r.ranks, r.levels); },
       {"any_bits"},
       {},
       true,
       Order::lost,
       false},
      {"staggered",
       "dissemination",
       "a barrier as dissemination, but every rank sends N messages before it hears the first "
       "(Bar-Noy 1993)",
       true,
       3,
       {C::barrier},
       [](const Request& r) { return staggered_barrier(r.ranks, r.form.degree); },
       {},
       {},
       false,
       Order::kept,
       true,
       1},
      {"bruck",
       "dissemination",
       "parts travel by powers of two, for short parts and many ranks",
       false,
       0,
       {C::allgather, C::alltoall},
       [](const Request& r) { return bruck(r.collective, r.ranks); }},
      {"hierarchical",
       "hierarchical",
       "one algorithm between nodes, among their leaders, and one within each (HMPI 2.5, MPICH2)",
       false,
       0,
       all_collectives,
       hierarchical,
       {"leaders=K"},
       {},
       true,
       Order::kept_in_runs,
       true,
       2,
       true},
  };
}

}  // namespace

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> made = table();
  return made;
}

plan::Written written(Collective collective, std::string_view spec, int ranks, int root,
                      const placement::Levels& levels) {
  const Algorithm& algorithm = named(spec);
  Request request{collective, ranks, root, levels, {}};
  check_request(algorithm, request);
  request.form = form_of(algorithm, spec, ranks);
  plan::Written written = algorithm.write(request);
  plan::plan_in(written).algorithm = std::string(spec);
  return written;
}

plan::Plan generate(Collective collective, std::string_view spec, int ranks, int root,
                    const placement::Levels& levels) {
  return plan::whole(written(collective, spec, ranks, root, levels));
}

ServedAs served_as(std::string_view spec, size_t bytes) {
  const Algorithm& algorithm = named(spec);
  const auto threshold = static_cast<size_t>(form_of(algorithm, spec, 1).threshold);
  if (threshold == 0) return {spec, 0, SIZE_MAX};
  if (bytes <= threshold) return {"direct", 0, threshold};
  return {spec, threshold + 1, SIZE_MAX};
}

int served_at_once(std::string_view spec) {
  const Algorithm& algorithm = named(spec);
  if (algorithm.name != "direct") return 0;
  const Form form = form_of(algorithm, spec, 1);
  return form.served ? form.degree : 0;
}

bool goes_by_levels(std::string_view spec) {
  const Algorithm& algorithm = named(spec);
  const bool by_word =
      std::find(algorithm.words.begin(), algorithm.words.end(), "levels") != algorithm.words.end();
  return algorithm.by_levels && (!by_word || form_of(algorithm, spec, 1).levels);
}

Serves serves(Collective collective, std::string_view spec, const placement::Levels& levels) {
  const Algorithm& algorithm = named(spec);
  if (!plan::combines(collective)) return {};
  const Form form = form_of(algorithm, spec, 1);
  if (algorithm.is_composed) {
    Serves composed = hierarchical_serves(collective, form, levels);
    composed.folds = false;
    return composed;
  }
  Order order = algorithm.order;
  if (form.levels) order = Order::kept_in_runs;
  if (form.cyclic) order = Order::lost;
  const bool folds = order == Order::folded;
  if (plan::is_scan(collective)) order = Order::kept;
  return {folds || order == Order::kept || (order == Order::kept_in_runs && levels.in_rank_order()),
          algorithm.uniform || form.any_bits, folds};
}

}  // namespace tutti::algo
