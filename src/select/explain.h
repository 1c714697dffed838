// Why an algorithm serves a call: all rules and variables that decide about it, in the order in
// which they are asked.
//
// Pure functions of the call and the overrides, for people to read. A group chooses by
// Group::look_up, which asks the same rules. Any thread.
#pragma once

#include <string>
#include <vector>

#include "select/select.h"

namespace tutti::select {

// A rule or a variable that names an algorithm or a plan for this call.
struct Considered {
  std::string place;                 // "default.map:12", "FILE:LINE", "TUTTI_ALGORITHM_BCAST"
  std::string rule;                  // its text; of a variable NAME=VALUE
  std::string target;                // an algorithm, or the file of a plan
  const LoadedPlan* plan = nullptr;  // the user's plan; null: a built-in algorithm
  size_t segment_bytes = 0;  // the segments that it asks for; 0: it leaves them to the executor
  ReachChoice reach = ReachChoice::automatic;  // automatic: nothing was asked for
  std::string refused;                         // why it cannot serve; empty if it can
};

struct Explanation {
  // The first that is not refused serves; the ones behind it would be next.
  std::vector<Considered> considered;
  size_t chosen = 0;
  size_t segment_bytes = 0;  // 0: what the executor finds best
  // The place of the rule that says so, or TUTTI_SEGMENT_BYTES; empty for 0.
  std::string segment_place;
  ReachChoice reach = ReachChoice::automatic;  // automatic: as ranks are found to reach each other
  // The place of the rule that says so, or TUTTI_REACH; empty for automatic.
  std::string reach_place;
  Sizes sizes;  // for which the explanation is the same
};

Explanation explain(const Call& call, const Overrides& overrides);

}  // namespace tutti::select
