#include "select/select.h"

#include <algorithm>

#include "algo/algo.h"
#include "algo/by_host.h"

namespace tutti::select {
namespace {

bool folds_left(plan::Collective collective, const Overrides& overrides) {
  return plan::combines(collective) && overrides.reproducible == Reproducible::placement;
}

// Finds the first rule that holds, or returns false if there is none. Either way narrows `sizes` to
// those with the same answer.
bool find_rule(const Table& table, const Call& call, Choice& choice, Sizes& sizes) {
  for (const Rule& rule : table.rules[static_cast<size_t>(call.collective)]) {
    if (!holds(rule, call, sizes) || !refusal(rule.target, call).empty()) continue;
    choice.algorithm = rule.target;
    choice.segment_bytes = rule.segment_bytes;
    choice.reach = rule.reach;
    return true;
  }
  return false;
}

template <class Asks>
bool has_rule(const Table& table, Asks asks) {
  return std::any_of(table.rules.begin(), table.rules.end(), [&](const auto& rules) {
    return std::any_of(rules.begin(), rules.end(), asks);
  });
}

template <class Asks>
bool some_users_rule(const Overrides& overrides, Asks asks) {
  if (overrides.library != nullptr) {
    for (const LoadedRule& loaded : overrides.library->rules) {
      if (asks(loaded.rule)) return true;
    }
  }
  return overrides.table != nullptr && has_rule(*overrides.table, asks);
}

// True if a rule asks for something. Rules that do have the word in their text; MPI_Init asks, so
// the compiled table, which many programs never need, is not read where its text lacks the word.
template <class Asks>
bool some_rule(const Overrides& overrides, std::string_view word, Asks asks) {
  if (some_users_rule(overrides, asks)) return true;
  return default_table_text.find(word) != std::string_view::npos && has_rule(default_table(), asks);
}

}  // namespace

std::vector<const Table*> tables_for(plan::Collective collective, const Overrides& overrides) {
  if (folds_left(collective, overrides)) return {&placement_table()};
  if (overrides.table == nullptr) return {&default_table()};
  return {overrides.table, &default_table()};
}

Choice choose(const Call& call, const Overrides& overrides) {
  Choice choice{.algorithm =
                    "flat"};  // serves everything, should a compiled table ever have a hole
  Sizes sizes;
  for (const Table* table : tables_for(call.collective, overrides)) {
    if (!find_rule(*table, call, choice, sizes)) continue;
    choice.by_users_table = table == overrides.table;
    choice.by_default_table = table == &default_table();
    break;
  }
  choice.bytes_low = sizes.low;
  choice.bytes_high = sizes.high;
  // The sizes remain those of the rule, because its segments remain, too.
  const std::string& asked = overrides.algorithm[static_cast<size_t>(call.collective)];
  if (!asked.empty() && refusal(asked, call).empty()) {
    choice.algorithm = asked;
    choice.by_default_table = false;
  }
  if (overrides.segment_bytes != 0) choice.segment_bytes = overrides.segment_bytes;
  if (overrides.reach != ReachChoice::automatic) choice.reach = ReachChoice::automatic;
  return choice;
}

Choice choose(plan::Collective collective, size_t bytes, int ranks, bool oversubscribed,
              const Overrides& overrides) {
  const Call call{.collective = collective,
                  .bytes = bytes,
                  .ranks = ranks,
                  .shape = {},
                  .root = 0,
                  .oversubscribed = oversubscribed};
  return choose(call, overrides);
}

bool may_go_by_host(const Overrides& overrides) {
  for (const std::string& asked : overrides.algorithm) {
    if (!asked.empty() && algo::by_host(asked)) return true;
  }
  return some_rule(overrides, "+host",
                   [](const Rule& rule) { return rule.builtin && algo::by_host(rule.target); });
}

bool may_go_by_servers(const Overrides& overrides) {
  const std::string& asked = overrides.algorithm[static_cast<size_t>(plan::Collective::alltoall)];
  if (!asked.empty() && algo::served_at_once(asked) > 0) return true;
  return some_rule(overrides, ":served", [](const Rule& rule) {
    return rule.builtin && algo::served_at_once(rule.target) > 0;
  });
}

bool users_rules_ask_for_cma(const Overrides& overrides) {
  return some_users_rule(overrides,
                         [](const Rule& rule) { return rule.reach == ReachChoice::cma; });
}

bool default_rules_ask_for_cma() {
  static const bool asks = default_table_text.find("cma\n") != std::string_view::npos;
  return asks;
}

std::string algorithm_variable(plan::Collective collective) {
  std::string variable = "TUTTI_ALGORITHM_";
  for (const char c : plan::name(collective))
    variable += c == '_' ? c : static_cast<char>(c - 'a' + 'A');
  return variable;
}

}  // namespace tutti::select
