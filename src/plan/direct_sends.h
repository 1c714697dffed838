// Direct sends: copies of a user's blocks to `tmp` that only ranks of other nodes read.
//
// Such a copy is for ranks that read memory whenever they come to it. Between nodes nobody reads:
// the owner sends. So staging (stage.cpp) leaves the copy out, and the message leaves from the
// user's blocks, at the copy's place in the plan. The copy takes no time and no room in the slot. A
// later write to these blocks waits until the message has ended, as with any message.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "placement/nodes.h"
#include "plan/lower.h"
#include "plan/plan.h"

namespace tutti::plan {

struct DirectSends {
  // Maps the index of such a copy in the plan to the indices of the transfers that read it, in
  // their order.
  std::map<int32_t, std::vector<int32_t>> readers;
  // Maps the index of such a transfer to the index of the copy for each of its sources, or -1.
  std::map<int32_t, std::vector<int32_t>> copies;
};

// Finds the direct sends of a plan as it was written, without messages; O(number of blocks that it
// names). Nothing is sent directly in a plan on one node. Left as they are: copies with explicit
// stages, or with a token between them and a reader, because these say when data is sent; a copy of
// which a message would arrive at its reader's destination too early; and one from blocks in which
// a message arrives later, whose receive could be posted only after a delay.
DirectSends direct_sends(const Plan& plan, const placement::Nodes& nodes, Buffers buffers);

}  // namespace tutti::plan
