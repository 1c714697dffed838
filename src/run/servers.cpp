#include "run/servers.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "run/affinity.h"
#include "run/bind.h"
#include "topo/kernel_files.h"

namespace tutti::run {
namespace {

// The caller names the option.
[[noreturn]] void refuse(const std::string& why) { throw Error(Code::invalid_argument, why); }

std::string counted(size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// The chosen cores of the user, by domain: those that lie in a domain serve it, and others serve
// the domains that lack some.
std::vector<int> units_as_asked(const ServersAsked& asked, const Domains& domains,
                                const std::set<int>& cpuset) {
  for (const int unit : asked.cores)
    if (!cpuset.contains(unit))
      refuse("this process may not use core " + std::to_string(unit) + "; name cores of " +
             list_of(cpuset));
  const size_t wanted = static_cast<size_t>(asked.count) * domains.size();
  if (asked.cores.size() < wanted)
    refuse(counted(wanted, "server") + " in " + counted(domains.size(), "domain") + " on " +
           counted(asked.cores.size(), "core") + "; name as many cores as servers");
  std::set<int> left = asked.cores;
  std::vector<std::vector<int>> of_domains;
  for (const auto& domain : domains) {
    auto& units = of_domains.emplace_back();
    for (const topo::NodeCore& core : domain)
      for (const int unit : core.units)
        if (static_cast<int>(units.size()) < asked.count && left.erase(unit) > 0)
          units.push_back(unit);
  }
  std::vector<int> all;
  for (auto& units : of_domains) {
    while (static_cast<int>(units.size()) < asked.count)
      units.push_back(left.extract(left.begin()).value());
    all.insert(all.end(), units.begin(), units.end());
  }
  return all;
}

}  // namespace

Domains domains_of(const std::vector<topo::NodeCore>& cores, ServersDomain domain,
                   const std::string& system) {
  std::map<int, std::vector<topo::NodeCore>> found;
  for (const topo::NodeCore& core : cores) {
    int key = 0;
    if (domain == ServersDomain::numa) key = core.region;
    if (domain == ServersDomain::socket) key = topo::socket_of(core.units.front(), system);
    found[key].push_back(core);
  }
  Domains domains;
  for (auto& [key, list] : found) domains.push_back(std::move(list));
  return domains;
}

std::vector<int> choose_server_units(const ServersAsked& asked, const Domains& domains,
                                     const std::set<int>& cpuset, int ranks) {
  if (asked.count == 0) return {};
  if (!asked.cores.empty()) return units_as_asked(asked, domains, cpuset);
  const auto count = static_cast<size_t>(asked.count);
  size_t cores = 0;
  for (const auto& domain : domains) {
    cores += domain.size();
    if (count > domain.size())
      refuse("a domain has " + counted(domain.size(), "core") + "; ask for at most " +
             std::to_string(domain.size()));
  }
  if (cores < count * domains.size() + static_cast<size_t>(std::max(ranks, 1))) return {};
  // The last cores of each domain: launchers and users tend to use the first.
  std::vector<int> units;
  for (const auto& domain : domains)
    for (size_t i = domain.size() - count; i < domain.size(); ++i)
      units.push_back(domain[i].units.front());
  return units;
}

namespace {

std::set<int> set_apart(const ServersAsked& asked) {
  const std::set<int> usable = units_of(0), cpuset = units_of_cpuset();
  const bool bound = is_bound();
  const std::set<int>& seen = bound ? cpuset : usable;
  if (seen.empty()) return {};
  const auto cores = topo::cores_of_node({seen.begin(), seen.end()});
  const auto rank = local_rank();
  const std::vector<int> units = choose_server_units(
      asked, domains_of(cores, options().servers_domain), cpuset, rank ? rank->ranks : 0);
  if (bound || units.empty()) return {};
  const std::set<int> chosen(units.begin(), units.end());
  setenv("TUTTI_SERVERS", print({asked.count, chosen}).c_str(), 1);
  std::set<int> kept;
  for (const topo::NodeCore& core : cores)
    if (std::any_of(core.units.begin(), core.units.end(),
                    [&](int unit) { return chosen.contains(unit); }))
      kept.insert(core.units.begin(), core.units.end());
  if (kept.size() == usable.size())
    refuse("servers on these cores leave none for the ranks; name fewer cores");
  return kept;
}

}  // namespace

std::set<int> set_servers_apart(const char* typed_before) {
  const ServersAsked& asked = options().servers;
  if (asked.count == 0) return {};
  try {
    return set_apart(asked);
  } catch (const Error& error) {
    throw Error(error.code(), typed_before + print(asked) + ": " + error.what());
  }
}

}  // namespace tutti::run
