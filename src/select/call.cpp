#include "select/call.h"

#include <algorithm>

#include "algo/algo.h"
#include "algo/by_host.h"

namespace tutti::select {

const placement::Levels& Call::known_levels() const {
  static const placement::Levels one_level;
  return levels == nullptr ? one_level : *levels;
}

std::string refusal(std::string_view algorithm, const Call& call) {
  if (call.nodes > 1 && algo::by_host(algorithm)) {
    if (!call.led) return "the host MPI made no communicator of the nodes' leaders";
    if (call.fixed_order && call.same_expression && plan::combines(call.collective))
      return "the order in which the host MPI combines is its own affair, and TUTTI_REPRODUCIBLE "
             "asks for one that is known";
  }
  if (!call.rank_order && !call.same_expression) return {};
  const algo::Serves serves = algo::serves(call.collective, algorithm, call.known_levels());
  if (call.rank_order && !serves.rank_order)
    return "it does not keep rank order, which operations that do not commute need";
  if (call.same_expression && !serves.uniform) {
    return "its ranks evaluate different expressions, so that floating point and user-defined "
           "operations could give them "
           "different bits";
  }
  return {};
}

bool holds(const Rule& rule, const Call& call, Sizes& sizes) {
  if (rule.collective != call.collective || call.ranks < rule.ranks_low ||
      call.ranks > rule.ranks_high)
    return false;
  const auto said = [](YesNo asked, bool is) {
    return asked == YesNo::any || (asked == YesNo::yes) == is;
  };
  if (!said(rule.oversubscribed, call.oversubscribed) || !said(rule.reached, call.reached))
    return false;
  if (rule.root != any_root && rule.root != call.root) return false;
  if (!rule.shape.empty() && (call.shape.empty() || !topo::agree(rule.shape, call.shape)))
    return false;
  const auto within = [](int32_t count, int32_t low, int32_t high) {
    return low <= count && count <= high;
  };
  if (!within(call.known_levels().groups("cluster"), rule.clusters_low, rule.clusters_high))
    return false;
  if (!within(call.nodes, rule.nodes_low, rule.nodes_high)) return false;
  const placement::Levels& levels = call.known_levels();
  if (!within(levels.groups("socket"), rule.sockets_low, rule.sockets_high) ||
      !within(levels.groups("numa"), rule.numa_low, rule.numa_high) ||
      !within(levels.groups("cache"), rule.caches_low, rule.caches_high) ||
      !said(rule.known, call.nodes == 1 && levels.known())) {
    return false;
  }
  if (call.bytes > rule.bytes_high) {
    sizes.low = std::max(sizes.low, rule.bytes_high + 1);
    return false;
  }
  if (call.bytes < rule.bytes_low) {
    sizes.high = std::min(sizes.high, rule.bytes_low - 1);
    return false;
  }
  sizes.low = std::max(sizes.low, rule.bytes_low);
  sizes.high = std::min(sizes.high, rule.bytes_high);
  return true;
}

}  // namespace tutti::select
