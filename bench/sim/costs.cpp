#include "costs.h"

#include <simgrid/engine.h>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Link.hpp>
#include <smpi/smpi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <unordered_map>

namespace {

using Node = simgrid::s4u::Host;
// The time at which each node's adapter is free again. It is on the heap, because the simulation
// calls on behalf of every rank, and each rank has its own copy of globals.
using Adapters = std::unordered_map<const Node*, double>;

double send(const SimCosts& costs, Adapters& adapters, size_t bytes, const Node* from,
            const Node* to) {
  if (from == to) return costs.overhead_within;
  const double now = simgrid_get_clock();
  double& free = adapters[from];
  const double waited = std::max(0.0, free - now);
  const double on_the_way =
      bytes < costs.short_bytes ? static_cast<double>(bytes) / costs.bytes_per_second : 0;
  free = std::max(free, now) + std::max(costs.gap, on_the_way);
  return waited + costs.overhead_between;
}

// The messages of a link get equal shares of it, and none gets more than the link's property
// "message".
void limit_messages() {
  using simgrid::s4u::Link;
  for (Link* const link : simgrid::s4u::Engine::get_instance()->get_all_links()) {
    const char* const text = link->get_property("message");
    if (text == nullptr) continue;
    const double message = std::atof(text);
    link->set_sharing_policy(Link::SharingPolicy::NONLINEAR, [message](double all, int messages) {
      return std::min(all, messages * message);
    });
  }
}

}  // namespace

void sim_charge(SimCosts costs) {
  limit_messages();
  const auto adapters = std::make_shared<Adapters>();
  const auto sending = [costs, adapters](size_t bytes, Node* from, Node* to) {
    return send(costs, *adapters, bytes, from, to);
  };
  smpi_register_op_cost_callback(SmpiOperation::SEND, sending);
  smpi_register_op_cost_callback(SmpiOperation::ISEND, sending);
  smpi_register_op_cost_callback(
      SmpiOperation::RECV, [costs](size_t, const Node* from, const Node* to) {
        return from == to ? costs.overhead_within : costs.overhead_between;
      });
}
