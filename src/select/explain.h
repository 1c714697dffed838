// Why a call is served as it is: everything that has a say about it, in the order in which it is
// asked.
//
// Pure functions of the call and the overrides, made for people; what a group really does is
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
  const LoadedPlan* plan = nullptr;  // of the user's; null: a built-in algorithm
  size_t segment_bytes = 0;          // that it asks for; 0: it leaves it to the executor
  ReachChoice reach = ReachChoice::automatic;  // likewise; automatic: it says nothing
  std::string refused;                         // why it cannot serve; empty where it can
};

struct Explanation {
  // The first that is not refused serves; those behind it would be next.
  std::vector<Considered> considered;
  size_t chosen = 0;
  size_t segment_bytes = 0;   // 0: what the executor finds best
  std::string segment_place;  // who says so: a rule's place or TUTTI_SEGMENT_BYTES; empty for 0
  ReachChoice reach = ReachChoice::automatic;  // automatic: as ranks are found to reach each other
  std::string reach_place;  // who says so: a rule's place or TUTTI_REACH; empty for automatic
  Sizes sizes;              // for which rules and variables say the same
};

Explanation explain(const Call& call, const Overrides& overrides);

}  // namespace tutti::select
