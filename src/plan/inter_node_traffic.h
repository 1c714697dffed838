// What a plan sends between nodes: how many messages, how much, and how many of them one after the
// other.
//
// A transfer takes each source that is on another node than its destination as one message, however
// many blocks that is; a token between nodes is a message without data. A message leaves when its
// blocks are there, and who has taken a token sends nothing before it. What a rank does within a
// node takes no time here, and that a place in `tmp` is used again adds no wait: so `delays` is
// what no lowering can hide. Pure; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace tutti::plan {

struct InterNodeTraffic {
  int64_t messages = 0;
  int64_t blocks = 0;  // in all messages together
  int32_t delays = 0;  // the longest chain of messages, each of which hangs on the one before
  int64_t most_messages = 0;  // sent by one rank

  bool operator==(const InterNodeTraffic&) const = default;
};

// `node_of` has a number for every rank of the plan, equal for those of one node.
InterNodeTraffic inter_node_traffic(const Plan& plan, const std::vector<int32_t>& node_of);

}  // namespace tutti::plan
