// The library: a user's own plans, and the map that says which calls they serve (TUTTI_PLANS,
// tutti-run --plans).
//
// A library is read once from a directory: the map (`map`, or files NAME.map in the order of their
// names) and every plan that it names, each checked. Then it is constant, all groups of the
// process share it, and any thread may read it. A process keeps it to its end. If a rule's plan
// cannot serve a call, it is refused, and the built-in choice serves; this room keeps each cause
// once, for the report.
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
  uint64_t fingerprint = 0;  // a hash of the rules and plans: equal at ranks that read the same
};

// With `fixed_order`, reduces in the order of arrival become reduces in the order written. Throws
// Error with one line that names file, line and remedy for whatever is broken: the directory, a
// map, a plan, a plan that its rule does not fit.
Library load_library(const std::string& directory, bool fixed_order);

// The map's answer for a call: the first rule whose conditions hold (null: none), and the sizes for
// which the answer is the same.
struct Match {
  const LoadedRule* rule = nullptr;
  Sizes sizes;
};
Match match(const Library& library, const Call& call);

// Why a plan cannot serve a call whose rule matched; empty if it can.
std::string refusal(const LoadedPlan& plan, const Call& call);

// The files of the user's whose rules have matched a call of this process. Any thread.
struct Matched {
  bool plans = false;
  bool table = false;
};
void note_matched_plans();
void note_matched_table();
Matched matched();

// Refusals so far, "FILE:LINE: PLAN: why", each once, in the order met. Any thread.
void note_refusal(const LoadedRule& rule, const std::string& why);
std::vector<std::string> refusals();

}  // namespace tutti::select
