#include "algo/hierarchy.h"

#include <algorithm>
#include <numeric>

#include "algo/form.h"

namespace tutti::algo {
namespace {

using plan::Collective;
using plan::Plan;
using plan::Region;

// Up to this many nodes a leader exchanges with all others at once, in one delay.
constexpr int32_t few_nodes = 8;

// The bound on the number of blocks. A block has at least one element, and each block costs every
// rank a line of its program.
constexpr int64_t most_even_blocks = 1024;

// True if several leaders per node can divide the work. In the other collectives one leader per
// node moves everything.
bool takes_leaders(Collective collective) {
  return collective == Collective::bcast || collective == Collective::reduce ||
         collective == Collective::allreduce || collective == Collective::allgather ||
         collective == Collective::reduce_scatter;
}

Plan begun(const Request& request) {
  Plan plan;
  plan.collective = request.collective;
  plan.ranks = request.ranks;
  plan.root = request.root;
  if (plan::parted(request.collective)) plan.blocks = request.ranks;
  return plan;
}

}  // namespace

int32_t node_level(const placement::Levels& levels) {
  const auto& all = levels.all();
  const auto found = std::find_if(all.begin(), all.end(), [](const placement::SharedLevel& level) {
    return level.name == "node";
  });
  return found == all.end() ? -1 : static_cast<int32_t>(found - all.begin());
}

std::string_view usual_between(Collective collective, int32_t nodes) {
  const bool few = nodes <= few_nodes;
  switch (collective) {
    case Collective::bcast:
    case Collective::reduce:
    case Collective::gather:
    case Collective::scatter: return few ? "flat" : "binomial";
    case Collective::barrier: return few ? "all_read_all" : "dissemination";
    case Collective::allreduce:
    case Collective::scan:
    case Collective::exscan: return few ? "all_read_all" : "doubling";
    case Collective::allgather: return few ? "all_read_all" : "bruck";
    default: return "direct";
  }
}

std::string_view spec_within(std::string_view asked, Collective collective,
                             const placement::Levels& levels) {
  if (!asked.empty() && serves(named(asked), collective)) return asked;
  return !levels.one_level() && serves(named("levels"), collective) ? "levels" : "flat";
}

Hierarchy::Hierarchy(const Request& request)
    : request_(request), plan_(begun(request)), composer_(plan_) {
  const auto at = static_cast<size_t>(node_level(request.levels));
  const placement::SharedLevel& level = request.levels.all()[at];
  node_of_ = level.group_of.values();
  in_runs_ = std::is_sorted(node_of_.begin(), node_of_.end());
  inner_levels_ = at + 1 < request.levels.all().size();
  members_.resize(static_cast<size_t>(level.groups));
  levels_.resize(members_.size());
  for (int32_t rank = 0; rank < request.ranks; ++rank) {
    members_[static_cast<size_t>(node_of_[static_cast<size_t>(rank)])].push_back(rank);
  }
  size_t largest = 0;
  for (const std::vector<int32_t>& ranks : members_) largest = std::max(largest, ranks.size());
  if (takes_leaders(request.collective))
    rails_ = std::min(request.form.leaders, static_cast<int32_t>(largest));
  plan_.commutative =
      plan::combines(request.collective) && !plan::is_scan(request.collective) && !in_runs_;
  by_host_ = request.form.between == host_word;
  between_spec_ = request.form.between.empty() || by_host_
                      ? usual_between(request.collective, nodes())
                      : request.form.between;
}

int32_t Hierarchy::leader(int32_t node, int32_t rail) const {
  const std::vector<int32_t>& ranks = members(node);
  auto place = static_cast<int32_t>(int64_t{rail} * size(node) / rails_);
  if (plan::rooted(plan_.collective) && node == root_node() && !by_host_) {
    const auto root = std::lower_bound(ranks.begin(), ranks.end(), plan_.root) - ranks.begin();
    place = (place + static_cast<int32_t>(root)) % size(node);
  }
  return ranks[static_cast<size_t>(place)];
}

std::vector<int32_t> Hierarchy::leaders(int32_t rail) const {
  std::vector<int32_t> ranks;
  for (int32_t node = 0; node < nodes(); ++node) ranks.push_back(leader(node, rail));
  return ranks;
}

std::vector<int32_t> Hierarchy::share(int32_t node, int32_t rail) const {
  const std::vector<int32_t>& ranks = members(node);
  const int64_t low = int64_t{rail} * size(node) / rails_,
                high = (int64_t{rail} + 1) * size(node) / rails_;
  return {ranks.begin() + low, ranks.begin() + high};
}

const Plan& Hierarchy::made(Key key, std::string_view spec, const placement::Levels& levels) {
  std::unique_ptr<const Plan>& plan = made_[key];
  if (plan == nullptr) {
    plan = std::make_unique<const Plan>(
        generate(std::get<1>(key), spec, std::get<2>(key), std::get<3>(key), levels));
    plan_.commutative |= plan->commutative && plan::combines(plan_.collective);
  }
  return *plan;
}

const placement::Levels& Hierarchy::levels_within(int32_t node) {
  std::unique_ptr<const placement::Levels>& levels = levels_[static_cast<size_t>(node)];
  if (levels == nullptr && !inner_levels_) levels = std::make_unique<placement::Levels>();
  if (levels == nullptr)
    levels = std::make_unique<placement::Levels>(request_.levels.of(members(node)));
  return *levels;
}

bool Hierarchy::meets_within() const {
  const std::string_view asked = request_.form.within;
  return request_.collective == Collective::barrier && !asked.empty() &&
         serves(named(asked), Collective::barrier) && !serves(named(asked), Collective::reduce);
}

const Plan& Hierarchy::within(Collective collective, const std::vector<int32_t>& ranks,
                              int32_t leader) {
  const int32_t node = node_of(ranks.front());
  const bool all = static_cast<int32_t>(ranks.size()) == size(node);
  const placement::Levels& levels =
      all || !inner_levels_ ? levels_within(node) : request_.levels.of(ranks);
  const auto place =
      plan::rooted(collective) ? std::find(ranks.begin(), ranks.end(), leader) - ranks.begin() : 0;
  return made({true, collective, static_cast<int32_t>(ranks.size()), static_cast<int32_t>(place),
               levels.contents()},
              spec_within(request_.form.within, collective, levels), levels);
}

const Plan& Hierarchy::between(Collective collective, int32_t root_node) {
  // Leaders are on different nodes, so only the levels outside nodes matter.
  const placement::Levels levels =
      node_level(request_.levels) > 0 ? request_.levels.of(leaders(0)) : placement::Levels{};
  const bool able = serves(named(between_spec_), collective);
  return made({false, collective, nodes(), root_node, {}},
              able ? between_spec_ : usual_between(collective, nodes()), levels);
}

void Hierarchy::embed_within(Collective collective, const std::vector<int32_t>& ranks,
                             int32_t leader, const std::vector<Regions>& in,
                             const std::vector<Regions>& out) {
  const Plan& part = within(collective, ranks, leader);
  composer_.embed({part, ranks, cut(in, part.blocks), cut(out, part.blocks)});
}

void Hierarchy::embed_between(Collective collective, const std::vector<int32_t>& ranks,
                              int32_t root_node, const std::vector<Regions>& in,
                              const std::vector<Regions>& out) {
  const Plan& part = between(collective, root_node);
  composer_.embed({part, ranks, cut(in, part.blocks), cut(out, part.blocks), false, true});
}

void Hierarchy::cut_vectors() {
  int64_t common = 1, most = 1;
  for (const auto& [key, plan] : made_) {
    most = std::max<int64_t>(most, plan->blocks);
    common = std::min<int64_t>(std::lcm(common, plan->blocks), most_even_blocks + 1);
  }
  plan_.blocks = static_cast<int32_t>((common <= most_even_blocks ? common : most) * rails_);
}

Region Hierarchy::piece(plan::Buffer buffer, int32_t rank, int32_t rail) const {
  const int32_t blocks = plan_.blocks / rails_;
  return {rank, buffer, rail * blocks, blocks, 1};
}

Region Hierarchy::scratch_piece(int32_t rank) {
  return composer_.scratch(rank, plan_.blocks / rails_);
}

}  // namespace tutti::algo
