// What tokens promise, held against one simulated run: when a rank goes on behind a token, what the
// token waits for is ordered before. Internal to src/plan.
//
// No data hangs on a token, so a lost one would never show as a race. What each token waits for is
// found here anew, from the staged plan alone. One owner, one thread; nothing is kept of plans
// without tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/ordered_memory.h"
#include "plan/plan.h"

namespace tutti::plan {

// One rank that a token waits for.
struct Awaited {
  int32_t number = 0, stage = 0;  // of the token, 1-based as in programs
  int32_t peer = -1;
  int32_t peer_number = 0, peer_stage = 0;  // of what the peer must have done
  bool segment_before = false;
};

// By rank, in the order of the tokens' numbers; empty where the plan has none.
using Tokens = std::vector<std::vector<Awaited>>;
Tokens tokens_of(const Plan& staged);

class TokenWatch {
 public:
  // `transfers` is the distance of numbers between ticks.
  TokenWatch(const Tokens& tokens, int32_t transfers, int32_t segments)
      : tokens_(tokens), transfers_(transfers), segments_(segments), done_(tokens.size()) {}

  // The rank has done a step of this number (of all operations) at this time of its clock; `tells`:
  // the step only says so. Returns a message where it has passed a token that it should have waited
  // at, else nothing.
  std::string done(int32_t rank, int64_t base, int64_t number, const Clock& clock, bool tells);

 private:
  struct Done {
    int64_t number;
    uint32_t time;
  };
  bool holds(const Awaited& token, int64_t base, int64_t tick, const Clock& clock) const;

  const Tokens& tokens_;
  const int32_t transfers_;
  const int32_t segments_;
  std::vector<std::vector<Done>> done_;  // by rank, in growing numbers
};

}  // namespace tutti::plan
