#include "algo/hierarchical.h"

#include <algorithm>
#include <utility>

#include "algo/by_host.h"
#include "algo/form.h"
#include "algo/hierarchical_phases.h"
#include "base/error.h"

namespace tutti::algo {
namespace {

using placement::Levels;
using plan::Collective;

bool by_dissemination(Collective collective, std::string_view between) {
  return collective == Collective::allreduce && between.starts_with("dissemination");
}

// The collective that leaders execute, and those that are executed within nodes.
Collective between_nodes(Collective collective) {
  return collective == Collective::scan ? Collective::exscan : collective;
}

std::vector<Collective> within_nodes(Collective collective, std::string_view between) {
  using C = Collective;
  switch (collective) {
    case C::barrier: return {C::reduce, C::bcast, C::barrier};
    case C::allreduce:
      if (by_dissemination(collective, between)) return {C::allreduce};
      return {C::reduce, C::bcast};
    case C::allgather: return {C::gather, C::bcast};
    case C::alltoall: return {C::gather, C::alltoall, C::scatter};
    case C::reduce_scatter: return {C::reduce, C::scatter};
    case C::exscan: return {C::scan};
    default: return {collective};
  }
}

// The functions that write the plans of each collective, except an allreduce by dissemination.
constexpr std::pair<Collective, void (*)(Hierarchy&)> phases[] = {
    {Collective::barrier, hierarchical_allreduce},
    {Collective::bcast, hierarchical_bcast},
    {Collective::reduce, hierarchical_reduce},
    {Collective::allreduce, hierarchical_allreduce},
    {Collective::gather, hierarchical_gather},
    {Collective::scatter, hierarchical_scatter},
    {Collective::allgather, hierarchical_allgather},
    {Collective::alltoall, hierarchical_alltoall},
    {Collective::reduce_scatter, hierarchical_reduce_scatter},
    {Collective::scan, hierarchical_scan},
    {Collective::exscan, hierarchical_scan}};

[[noreturn]] void refuse(Collective collective, std::string_view spec, const std::string& where,
                         const std::vector<Collective>& needed) {
  std::string names;
  for (const Collective one : needed)
    names.append(names.empty() ? "" : " and ").append(plan::name(one));
  throw Error(Code::invalid_argument, "algorithm 'hierarchical': " + std::string(spec) +
                                          " does not serve " + names + " " + where + ", which " +
                                          std::string(plan::name(collective)) +
                                          " needs; name one that does");
}

// Refuses collectives for which a leader does not have all arguments of the host's call.
void check_host(const Request& request) {
  const Collective collective = request.collective;
  if (!host_serves(collective)) {
    throw Error(
        Code::invalid_argument,
        "algorithm 'hierarchical+host': the host MPI's own collective serves between nodes for "
        "barrier, bcast, reduce and allreduce, not for " +
            std::string(plan::name(collective)) + "; name an algorithm in the place of host");
  }
  if (request.form.leaders > 1) {
    throw Error(
        Code::invalid_argument,
        "algorithm 'hierarchical+host': a node has one leader in the host MPI's own collective; "
        "leave out leaders=" +
            std::to_string(request.form.leaders));
  }
}

// The algorithm for all ranks if no level is that of nodes. Such levels are those of one node, or
// of groups of nodes with one rank each.
std::string alone(const Form& form, Collective collective, const Levels& levels, int32_t ranks) {
  const std::string_view within = form.within.empty() ? "levels" : form.within;
  if (form.between == host_word && !form.within.empty() && serves(named(within), collective))
    return std::string(within);
  const bool one_node = !levels.one_level() && levels.all().front().name != "cluster";
  if (one_node && serves(named(within), collective)) return std::string(within);
  const bool usual = form.between.empty() || form.between == host_word;
  return std::string(usual ? usual_between(collective, ranks) : form.between);
}

bool in_rank_order(const placement::SharedLevel& level) {
  const std::vector<int32_t> group_of = level.group_of.values();
  return std::is_sorted(group_of.begin(), group_of.end());
}

}  // namespace

void check_parts(const Request& request) {
  const std::string_view between = request.form.between, within = request.form.within;
  const Collective collective = request.collective;
  if (between == host_word) {
    check_host(request);
  } else if (!between.empty() && !serves(named(between), between_nodes(collective))) {
    refuse(collective, between, "between nodes", {between_nodes(collective)});
  }
  for (const std::string_view part : {between, within}) {
    if (!part.empty() && part != host_word) form_of(named(part), part, request.ranks);
  }
  if (within.empty()) return;
  const std::vector<Collective> needed = within_nodes(collective, between);
  const auto served = [&](Collective one) { return serves(named(within), one); };
  // Tiles need several blocks, but a barrier has only one.
  if (collective == Collective::barrier && !served(collective))
    refuse(collective, within, "within nodes", {collective});
  if (std::none_of(needed.begin(), needed.end(), served))
    refuse(collective, within, "within nodes", needed);
}

plan::Plan hierarchical(const Request& request) {
  check_parts(request);
  if (node_level(request.levels) < 0) {
    return generate(request.collective,
                    alone(request.form, request.collective, request.levels, request.ranks),
                    request.ranks, request.root, request.levels);
  }
  if (request.form.between == host_word) {
    throw Error(Code::invalid_argument,
                "algorithm 'hierarchical+host': between nodes it is the host MPI's own collective, "
                "which is no plan; name an algorithm in the place of host to see one");
  }
  Hierarchy nodes(request);
  const bool disseminates = by_dissemination(request.collective, request.form.between);
  for (const auto& [collective, write] : phases)
    if (collective == request.collective)
      (disseminates ? hierarchical_dissemination : write)(nodes);
  return std::move(nodes.plan());
}

Serves hierarchical_serves(Collective collective, const Form& form, const Levels& levels) {
  const int32_t at = node_level(levels);
  if (at < 0) return serves(collective, alone(form, collective, levels, 1), levels);
  if (plan::is_scan(collective)) return {};
  const auto& all = levels.all();
  const Levels in_order;
  const bool outside = std::all_of(all.begin(), all.begin() + at + 1, in_rank_order);
  const bool inside = levels.in_rank_order(),
             inner_levels = at + 1 < static_cast<int32_t>(all.size());
  const int32_t nodes = all[static_cast<size_t>(at)].groups;
  const std::string_view between =
      form.between.empty() ? usual_between(collective, nodes) : form.between;
  // Ranks of a communicator are combined in their order, and all are given one result: MPI's word,
  // as without Tutti.
  Serves result;
  if (between != host_word) result = serves(collective, between, outside ? in_order : levels);
  result.rank_order &= outside;
  for (const Collective one : within_nodes(collective, between)) {
    if (!plan::combines(one)) continue;
    const std::string_view within = spec_within(form.within, one, inner_levels ? levels : in_order);
    result.rank_order &= serves(one, within, inside ? in_order : levels).rank_order;
  }
  return result;
}

}  // namespace tutti::algo
