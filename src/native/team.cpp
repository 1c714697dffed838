#include "native/team.h"

#include <cstring>

#include "base/log.h"
#include "base/options.h"
#include "exec/waiter.h"
#include "placement/levels.h"
#include "topo/tree.h"

namespace {

size_t area_of(const tutti::Options& options) {
  return options.shm_bytes_per_rank != 0 ? options.shm_bytes_per_rank : tutti::shm::modest_area;
}

// As the user chose; else ranks that share cores yield.
tutti::exec::WaitStyle wait_style(int ranks) {
  const auto wait = tutti::options().wait;
  const bool oversubscribed = static_cast<size_t>(ranks) > tutti::topo::binding_of_process().size();
  if (wait == tutti::WaitChoice::spin) return tutti::exec::WaitStyle::spin;
  if (wait == tutti::WaitChoice::yield) return tutti::exec::WaitStyle::yield;
  return oversubscribed ? tutti::exec::WaitStyle::yield : tutti::exec::WaitStyle::spin;
}

}  // namespace

tutti_team::tutti_team(int ranks)
    : layout(tutti::shm::Layout::fit(ranks, area_of(tutti::options()))),
      areas(new (std::align_val_t{tutti::shm::line_size}) std::byte[layout.bytes()]),
      style(wait_style(ranks)),
      joined(static_cast<size_t>(ranks)),
      bindings(static_cast<size_t>(ranks)),
      services(ranks, style) {
  std::memset(areas.get(), 0, layout.bytes());
}

namespace tutti::native {
namespace {

void wait_for_all(const tutti_team& team, int rank) {
  exec::Waiter waiter(exec::pace_of_joining());
  waiter.until([&] { return team.present.load() >= team.layout.ranks; },
               [&] {
                 if (waiter.stalls())
                   log_line(
                       LogLevel::warning,
                       "rank %d waits since %d s for all %d ranks of its team to join; %d have",
                       rank, options().stall_seconds, team.layout.ranks, team.present.load());
                 return Code::ok;
               });
}

}  // namespace

void find_levels(tutti_group& group) {
  tutti_team& team = *group.team;
  wait_for_all(team, group.group.rank());
  std::call_once(team.levels_found, [&team] {
    team.levels = placement::levels_of_bound(team.bindings, options().topology);
    if (team.levels.one_level()) return;
    log_line(LogLevel::info, "levels of %d thread ranks: %s", team.layout.ranks,
             team.levels.contents().c_str());
  });
  if (!team.levels.one_level()) group.group.lie_on(team.levels);
  group.knows_levels = true;
}

}  // namespace tutti::native
