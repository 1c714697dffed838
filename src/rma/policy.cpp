#include "rma/policy.h"

#include <algorithm>

namespace tutti::rma {
namespace {

const Rule* rule_of(const Policy& policy, Kind kind, size_t bytes) {
  const std::vector<Rule>& rules = policy.rules(kind);
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&](const Rule& rule) { return bytes <= rule.most_bytes; });
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace

bool is_for_servers(const Policy& policy, Kind kind, size_t bytes, size_t outstanding) {
  if (policy.serve != Serve::selective) return policy.serve == Serve::all;
  const Rule* const rule = rule_of(policy, kind, bytes);
  return rule != nullptr && outstanding >= rule->least_outstanding;
}

Turn next_turn(const Policy& policy, const Turn& last, int32_t servers, Kind kind, size_t bytes) {
  if (last.batch_left > 0 && last.server <= servers) return {last.server, last.batch_left - 1};
  const Rule* const rule = rule_of(policy, kind, bytes);
  const uint32_t batch = rule == nullptr ? 1 : std::max<uint32_t>(rule->batch, 1);
  const int32_t turns = servers + (policy.clients_are_active ? 1 : 0);
  return {(last.server + 1) % turns, batch - 1};
}

}  // namespace tutti::rma
