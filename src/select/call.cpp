#include "select/call.h"

#include <algorithm>

namespace tutti::select {

bool holds(const Rule& rule, const Call& call, Sizes& sizes) {
  if (rule.collective != call.collective || call.ranks < rule.ranks_low || call.ranks > rule.ranks_high) return false;
  if (rule.crowded != Crowded::any && (rule.crowded == Crowded::yes) != call.crowded) return false;
  if (rule.root != any_root && rule.root != call.root) return false;
  if (!rule.shape.empty() && (call.shape.empty() || !topo::agree(rule.shape, call.shape))) return false;
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
