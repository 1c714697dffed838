#include "select/explain.h"

#include <algorithm>
#include <utility>

namespace tutti::select {
namespace {

Considered of_rule(const std::string& place, const Rule& rule, const Call& call) {
  return {place,
          print(rule),
          rule.target,
          nullptr,
          rule.segment_bytes,
          rule.reach,
          rule.builtin ? refusal(rule.target, call) : ""};
}

void add_variable(const Call& call, const Overrides& overrides, Explanation& explanation) {
  const std::string& asked = overrides.algorithm[static_cast<size_t>(call.collective)];
  if (asked.empty()) return;
  const std::string variable = algorithm_variable(call.collective);
  explanation.considered.push_back({variable, variable + "=" + asked, asked, nullptr, 0,
                                    ReachChoice::automatic, refusal(asked, call)});
}

// A map is asked once: if the plan that it names cannot serve, the tables are next.
void add_plans(const Call& call, const Overrides& overrides, Explanation& explanation) {
  if (overrides.library == nullptr) return;
  const Match found = match(*overrides.library, call);
  explanation.sizes = found.sizes;
  if (found.rule == nullptr) return;
  Considered considered = of_rule(found.rule->place, found.rule->rule, call);
  considered.plan = found.rule->plan.get();
  if (considered.plan != nullptr) considered.refused = refusal(*considered.plan, call);
  explanation.considered.push_back(std::move(considered));
}

void add_tables(const Call& call, const Overrides& overrides, Explanation& explanation) {
  bool decided = false;  // rules behind the first that holds do not narrow the sizes
  Sizes behind;
  for (const Table* table : tables_for(call.collective, overrides)) {
    for (const Rule& rule : table->rules[static_cast<size_t>(call.collective)]) {
      if (!holds(rule, call, decided ? behind : explanation.sizes)) continue;
      explanation.considered.push_back(
          of_rule(table->name + ":" + std::to_string(rule.line), rule, call));
      decided |= explanation.considered.back().refused.empty();
    }
  }
}

bool serves(const Considered& one) { return one.refused.empty(); }

// A variable that names an algorithm leaves segments and reach to the table's rule for this size.
void find_ways(const Overrides& overrides, size_t first_of_tables, Explanation& explanation) {
  const auto& considered = explanation.considered;
  const bool by_variable = considered[explanation.chosen].place.starts_with("TUTTI_ALGORITHM_");
  const auto of_tables = std::find_if(considered.begin() + static_cast<ptrdiff_t>(first_of_tables),
                                      considered.end(), serves);
  const bool left_to_tables = by_variable && of_tables != considered.end();
  const size_t from =
      left_to_tables ? static_cast<size_t>(of_tables - considered.begin()) : explanation.chosen;
  explanation.segment_bytes = considered[from].segment_bytes;
  if (explanation.segment_bytes != 0) explanation.segment_place = considered[from].place;
  explanation.reach = considered[from].reach;
  if (explanation.reach != ReachChoice::automatic) explanation.reach_place = considered[from].place;
  if (overrides.segment_bytes != 0) {
    explanation.segment_bytes = overrides.segment_bytes;
    explanation.segment_place = "TUTTI_SEGMENT_BYTES";
  }
  if (overrides.reach != ReachChoice::automatic) {
    explanation.reach = overrides.reach;
    explanation.reach_place = "TUTTI_REACH";
  }
}

}  // namespace

Explanation explain(const Call& call, const Overrides& overrides) {
  Explanation explanation;
  auto& considered = explanation.considered;
  add_variable(call, overrides, explanation);
  // If a user names an algorithm, neither the rules of the map nor their sizes matter.
  const bool named = !considered.empty() && considered.front().refused.empty();
  add_plans(call, overrides, explanation);
  if (named) explanation.sizes = {};
  const size_t first_of_tables = considered.size();
  add_tables(call, overrides, explanation);
  if (considered.empty())
    considered.push_back({"built-in", "flat", "flat", nullptr, 0, ReachChoice::automatic, {}});
  explanation.chosen = static_cast<size_t>(
      std::find_if(considered.begin(), considered.end(), serves) - considered.begin());
  find_ways(overrides, first_of_tables, explanation);
  return explanation;
}

}  // namespace tutti::select
