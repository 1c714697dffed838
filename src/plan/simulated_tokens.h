// The check of tokens in a simulated run: when a rank goes on after a token, the transfers that the
// token waits for must be ordered before. Internal to src/plan.
//
// No data depends on a token, so a lost token never shows as a race. Therefore this check derives
// from the staged plan alone, independently of lowering, which transfers each token waits for. One
// owner, one thread. For plans without tokens the tables are empty.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/ordered_memory.h"
#include "plan/plan.h"

namespace tutti::plan {

// One rank that a token waits for.
struct Awaited {
  int32_t number = 0, stage = 0;  // the token's number and stage, from 1 as in programs
  int32_t peer = -1;
  // The number and stage of the transfer that the peer must have executed.
  int32_t peer_number = 0, peer_stage = 0;
  bool segment_before = false;
};

// The tokens of each rank, in the order of their numbers; empty if the plan has none.
using Tokens = std::vector<std::vector<Awaited>>;
Tokens tokens_of(const Plan& staged);

class TokenWatch {
 public:
  // `transfers` is the distance of numbers between ticks.
  TokenWatch(const Tokens& tokens, int32_t transfers, int32_t segments)
      : tokens_(tokens), transfers_(transfers), segments_(segments), done_(tokens.size()) {}

  // Call it when the rank has done a step, with the step's number (counted over all operations) and
  // the rank's clock. `tells` is true for a publish or a stamp. Returns a message if the rank has
  // passed a token at which it should have waited, and otherwise an empty text.
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
  std::vector<std::vector<Done>> done_;  // indexed by rank, in growing numbers
};

}  // namespace tutti::plan
