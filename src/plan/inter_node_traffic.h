// The inter-node traffic of a plan: how many messages it sends between nodes, how many blocks are
// in them, and how many must follow one after another.
//
// Each source of a transfer that is on another node than the destination is one message, however
// many blocks it has. A token between nodes is a message without data. A message leaves when its
// blocks are complete and the tokens before it at its sender are satisfied. Work within a node
// counts as taking no time, and the reuse of a place in `tmp` adds no wait. So `delays` is the part
// that no lowering can hide. Pure; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace tutti::plan {

struct InterNodeTraffic {
  int64_t messages = 0;
  int64_t blocks = 0;  // in all messages together
  int32_t delays = 0;  // the longest chain of messages, each of which depends on the one before
  int64_t most_messages = 0;  // sent by one rank

  bool operator==(const InterNodeTraffic&) const = default;
};

// `node_of` has a number for every rank of the plan; ranks of one node have equal numbers.
InterNodeTraffic inter_node_traffic(const Plan& plan, const std::vector<int32_t>& node_of);

}  // namespace tutti::plan
