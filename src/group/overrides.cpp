// Turns the environment's variables into overrides of selection. Reads users' plans and tables,
// once.
#include <map>
#include <mutex>

#include "algo/algo.h"
#include "algo/by_host.h"
#include "base/error.h"
#include "group/group.h"
#include "group/system_copies.h"

namespace tutti::group {

using plan::Collective;

namespace {

void check_algorithm(Collective collective, const std::string& algorithm,
                     Reproducible reproducible) {
  const std::string variable = select::algorithm_variable(collective);
  try {
    algo::generate(collective, algorithm, 2, 0);
  } catch (const Error& error) {
    throw Error(Code::invalid_argument, variable + ": " + error.what());
  }
  if (reproducible == Reproducible::placement && !algo::serves(collective, algorithm, {}).folds) {
    throw Error(
        Code::invalid_argument,
        variable + "=" + algorithm + " combines partial results, which " +
            "TUTTI_REPRODUCIBLE=placement excludes; give flat, or leave one of the two out");
  }
  if (plan::combines(collective) && reproducible != Reproducible::off && algo::by_host(algorithm)) {
    throw Error(
        Code::invalid_argument,
        variable + "=" + algorithm + " leaves the order of combining to the host MPI, which " +
            "TUTTI_REPRODUCIBLE=run excludes; name an algorithm in the place of host, or leave "
            "one of the two out");
  }
}

// The library is read once and kept until the process ends: groups and the report use it.
const select::Library* users_library(const Options& options) {
  // TUTTI_REPRODUCIBLE=placement requires one expression, which users' plans need not have.
  if (options.plans.empty() || options.disable || options.reproducible == Reproducible::placement)
    return nullptr;
  static std::mutex& mutex = *new std::mutex;
  static auto& libraries = *new std::map<std::pair<std::string, bool>, select::Library>;
  const bool fixed_order = options.reproducible != Reproducible::off;
  const std::lock_guard lock(mutex);
  const auto key = std::pair(options.plans, fixed_order);
  auto found = libraries.find(key);
  if (found == libraries.end()) {
    found = libraries.emplace(key, select::load_library(options.plans, fixed_order)).first;
  }
  return &found->second;
}

}  // namespace

// The table, too, is read once and kept until the process ends.
const select::Table* users_table(const Options& options) {
  if (options.table.empty() || options.disable) return nullptr;
  static std::mutex& mutex = *new std::mutex;
  static auto& tables = *new std::map<std::string, select::Table>;
  const std::lock_guard lock(mutex);
  auto found = tables.find(options.table);
  if (found == tables.end())
    found = tables.emplace(options.table, select::load_table(options.table)).first;
  return &found->second;
}

select::Overrides overrides_of(const Options& options) {
  select::Overrides overrides;
  overrides.algorithm = options.algorithms;
  overrides.segment_bytes = options.segment_bytes;
  overrides.reach = options.reach;
  overrides.reproducible = options.reproducible;
  for (int i = 0; i < plan::collective_count; ++i) {
    if (overrides.algorithm[i].empty()) continue;
    check_algorithm(static_cast<Collective>(i), overrides.algorithm[i], options.reproducible);
  }
  overrides.library = users_library(options);
  overrides.table = users_table(options);
  return overrides;
}

exec::SystemCopies system_copies_asked(const select::Overrides& overrides) {
  if (select::users_rules_ask_for_cma(overrides)) return exec::SystemCopies::always;
  return select::default_rules_ask_for_cma() ? exec::SystemCopies::where_quick
                                             : exec::SystemCopies::never;
}

std::vector<std::string> unmatched_files(const Options& options) {
  const select::Overrides overrides = overrides_of(options);
  const select::Matched matched = select::matched();
  std::vector<std::string> files;
  if (overrides.library != nullptr && !matched.plans)
    files.push_back(options.plans + " (--plans, TUTTI_PLANS)");
  if (overrides.table != nullptr && !matched.table)
    files.push_back(options.table + " (--table, TUTTI_TABLE)");
  return files;
}

const select::Table& table_of(const std::string& text, std::string_view name) {
  static std::mutex& mutex = *new std::mutex;
  static auto& tables = *new std::map<std::string, select::Table>;
  const std::lock_guard lock(mutex);
  auto found = tables.find(text);
  if (found == tables.end()) found = tables.emplace(text, select::read_table(text, name)).first;
  return found->second;
}

}  // namespace tutti::group
