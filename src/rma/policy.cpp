#include "rma/policy.h"

#include <utility>

namespace tutti::rma {

const Rule* rule_of(const Policy& policy, const Situation& now) {
  size_t size = 0;  // the size of the rules that count
  for (const Rule& rule : policy.rules(now.kind)) {
    if (rule.most_bytes < now.bytes) continue;
    if (size == 0) size = rule.most_bytes;
    if (rule.most_bytes != size) break;
    if (now.waiting >= rule.least_waiting) return &rule;
  }
  return nullptr;
}

bool is_for_servers(const Policy& policy, const Situation& now) {
  if (policy.serve == Serve::none || now.in_flight >= policy.most_in_flight) return false;
  return policy.serve == Serve::all || rule_of(policy, now) != nullptr;
}

size_t least_bytes_served(const Policy& policy) {
  size_t least = SIZE_MAX;
  for (const std::vector<Rule>* const rules : {&policy.puts, &policy.gets}) {
    size_t shorter = 0, size = 0;  // the rules before are for transfers up to `shorter` bytes
    for (const Rule& rule : *rules) {
      if (rule.most_bytes != size) shorter = std::exchange(size, rule.most_bytes);
      if (rule.least_waiting != UINT32_MAX) least = std::min(least, shorter + 1);
    }
  }
  return least;
}

namespace {

Turn rest_of_batch(const Turn& last) { return {last.server, last.batch_left - 1}; }
bool goes_on(const Turn& last, int32_t servers) {
  return last.batch_left > 0 && last.server <= servers;
}

}  // namespace

Turn next_turn(const Rule& rule, const Turn& last, int32_t servers) {
  if (goes_on(last, servers)) return rest_of_batch(last);
  const int32_t turns = servers + (rule.client_takes_turns ? 1 : 0);
  return {(last.server + 1) % turns, std::clamp(rule.batch, 1U, most_batch) - 1};
}

Turn next_turn(const Policy& policy, const Turn& last, int32_t servers, const Situation& now) {
  if (goes_on(last, servers)) return rest_of_batch(last);  // the rule is not looked for
  const Rule* const found = rule_of(policy, now);
  return next_turn(found == nullptr ? Rule{} : *found, last, servers);
}

}  // namespace tutti::rma
