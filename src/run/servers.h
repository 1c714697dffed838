// The choice of the cores that the servers of a node get (--servers), so that ranks keep off them.
//
// The tutti-runs of a node decide by facts that they share, so all decide alike.
// choose_server_units is a pure function; one thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/options.h"
#include "topo/shape.h"

namespace tutti::run {

// The cores of each domain; no domain is empty. `system` is where the kernel shows its devices.
using Domains = std::vector<std::vector<topo::NodeCore>>;
Domains domains_of(const std::vector<topo::NodeCore>& cores, ServersDomain domain,
                   const std::string& system = "/sys/devices/system");

// The processing units of the servers, by domain and then by server, one for each. Empty if they
// must share the cores of the node's ranks (0: the number is unknown), because too few are left.
// `cpuset`: all that this process may use. Throws Error(invalid_argument) if the user asks for what
// the node does not have.
std::vector<int> choose_server_units(const ServersAsked& asked, const Domains& domains,
                                     const std::set<int>& cpuset, int ranks);

// Chooses them for this node as its ranks are bound now. If the ranks are not bound yet, it tells
// the interposer the cores (in TUTTI_SERVERS), and returns those that ranks are to keep off: all
// units of the servers' cores. Throws as above, with `typed_before` and the value before the
// reason:
// "--servers " or "TUTTI_SERVERS=", as the user has given it.
std::set<int> set_servers_apart(const char* typed_before);

}  // namespace tutti::run
