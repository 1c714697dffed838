// The library: a user's own plans, and the map that says which calls they serve (TUTTI_PLANS,
// tutti-run --plans).
//
// Read once from a directory: the map (`map`, or files NAME.map in the order of their names) and
// every plan that it names, each checked. Constant from then on and shared by all groups of the
// process, which read it from any thread; a process keeps it to its end. What a rule's plan cannot
// serve is refused call by call and goes to the built-in choice; that is noted here, once for each
// cause, for the report.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plan/check.h"
#include "plan/plan.h"
#include "select/call.h"
#include "select/map.h"
#include "topo/shape.h"

namespace tutti::select {

struct LoadedPlan {
  std::string file;  // as the map names it: the algorithm's name in reports
  plan::Plan plan;
  plan::Verdict verdict;
  topo::Shape shape;      // empty: any machine
  uint64_t contents = 0;  // equal in this process for equal plans, whatever their files are called
};

struct LoadedRule {
  Rule rule;
  std::string place;                       // "FILE:LINE" of the map
  std::shared_ptr<const LoadedPlan> plan;  // null for a built-in algorithm
};

struct Library {
  std::vector<LoadedRule> rules;  // in the order in which they are tried
  uint64_t fingerprint = 0;       // of the rules and plans: equal at ranks that read the same
};

// With `fixed_order`, reduces in the order of arrival become reduces in the order written. Throws
// Error with one line that names file, line and remedy for whatever is broken: the directory, a
// map, a plan, a plan that its rule does not fit.
Library load_library(const std::string& directory, bool fixed_order);

// What the map says about a call: the first rule whose conditions hold (null: none) and the sizes
// for which that is the same answer.
struct Match {
  const LoadedRule* rule = nullptr;
  Sizes sizes;
};
Match match(const Library& library, const Call& call);

// Why a plan cannot serve a call whose rule matched; empty where it can.
std::string refusal(const LoadedPlan& plan, const Call& call);

// Refusals so far, "FILE:LINE: PLAN: why", each once, in the order met. Any thread.
void note_refusal(const LoadedRule& rule, const std::string& why);
std::vector<std::string> refusals();

}  // namespace tutti::select
