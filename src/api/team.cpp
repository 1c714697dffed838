#include "api/team.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/log.h"
#include "base/options.h"
#include "exec/waiter.h"
#include "api/processes.h"
#include "api/serving.h"
#include "placement/levels.h"
#include "rma/server.h"
#include "topo/tree.h"

namespace {

size_t area_of(const tutti::Options& options) {
  return options.shm_bytes_per_rank != 0 ? options.shm_bytes_per_rank : tutti::shm::modest_area;
}

// Returns the user's choice; by default, ranks that share cores yield.
tutti::exec::WaitStyle wait_style(int ranks) {
  const auto wait = tutti::options().wait;
  const bool oversubscribed = static_cast<size_t>(ranks) > tutti::topo::binding_of_process().size();
  if (wait == tutti::WaitChoice::spin) return tutti::exec::WaitStyle::spin;
  if (yields(wait)) return tutti::exec::WaitStyle::yield;
  return oversubscribed ? tutti::exec::WaitStyle::yield : tutti::exec::WaitStyle::spin;
}

}  // namespace

tutti::api::ThreadTeam::ThreadTeam(int ranks)
    : layout(tutti::shm::Layout::fit(ranks, area_of(tutti::options()))),
      areas(new (std::align_val_t{tutti::shm::line_size}) std::byte[layout.bytes()]),
      style(wait_style(ranks)),
      joined(static_cast<size_t>(ranks)),
      bindings(static_cast<size_t>(ranks)),
      services(ranks, style),
      trace(TeamTrace::begin(ranks)) {
  std::memset(areas.get(), 0, layout.bytes());
}

namespace tutti::api {
namespace {

int ranks_present(const ThreadTeam& team) { return static_cast<int>(shm::observe(team.present)); }

void wait_for_all(const ThreadTeam& team, int rank) {
  exec::Waiter waiter(exec::pace_of_joining());
  waiter.until([&] { return ranks_present(team) >= team.layout.ranks; },
               [&] {
                 if (waiter.stalls())
                   log_line(LogLevel::warning,
                            "rank %d has waited %d s for all %d ranks of its team to join; %d have",
                            rank, options().stall_seconds, team.layout.ranks, ranks_present(team));
                 return Code::ok;
               });
}

// Processing units that the process may use and no rank is bound to; none if ranks are not bound.
std::vector<int> units_without_ranks(const ThreadTeam& team, const std::vector<int>& all) {
  if (ranks_present(team) < team.layout.ranks) return {};
  std::vector<int> used;
  for (const std::vector<int>& bound : team.bindings)
    if (bound.size() < all.size()) used.insert(used.end(), bound.begin(), bound.end());
  if (used.empty()) return {};
  std::sort(used.begin(), used.end());
  std::vector<int> left;
  std::set_difference(all.begin(), all.end(), used.begin(), used.end(), std::back_inserter(left));
  return left;
}

rma::ServerSettings place(const ThreadTeam& team, int servers) {
  const std::vector<int> all = topo::binding_of_process();
  std::vector<int> free = units_without_ranks(team, all);
  const auto count = static_cast<size_t>(servers);
  if (free.size() >= count) return {.count = servers, .units = std::move(free), .own_units = true};
  if (all.size() < count + static_cast<size_t>(team.layout.ranks))
    log_line(LogLevel::info, "%d servers share the cores of %d ranks", servers, team.layout.ranks);
  return {.count = servers, .units = all};
}

}  // namespace

void ThreadTeam::start_servers(int count, tutti_serve serve) {
  const bool share = topo::binding_of_process().size() < static_cast<size_t>(layout.ranks + count);
  const rma::Crew crew{.clients = layout.ranks, .servers = count};
  services.start(place(*this, count), least_bytes_of(serve, share, crew));
  services.enable(serve != TUTTI_SERVE_NONE);
}

void ThreadTeam::keep_servers_awake(bool awake) { rma::keep_awake(services.now().domain(), awake); }

std::unique_ptr<Started> start_of(tutti_group& group) {
  if (group.processes != nullptr) return group.processes->start();
  ThreadTeam& team = *group.team;
  Started::Settings settings;
  settings.areas = team.areas.get();
  settings.layout = team.layout;
  settings.rank = group.rank;
  settings.arena = &team.arena;
  settings.reach = group.group->reach();
  settings.style = team.style;
  return std::make_unique<Started>(std::move(settings));
}

void find_levels(tutti_group& group) {
  ThreadTeam& team = *group.team;
  wait_for_all(team, group.rank);
  std::call_once(team.levels_found, [&team] {
    team.levels = placement::levels_of_bound(team.bindings, options().topology);
    if (team.levels.one_level()) return;
    log_line(LogLevel::info, "levels of %d thread ranks: %s", team.layout.ranks,
             team.levels.contents().c_str());
  });
  if (team.levels != placement::Levels()) group.group->lie_on(team.levels);
  group.knows_levels = true;
}

}  // namespace tutti::api
