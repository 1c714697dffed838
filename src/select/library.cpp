#include "select/library.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "plan/text.h"
#include "plan/tree_text.h"
#include "select/contents.h"

namespace tutti::select {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& message) { throw Error(Code::invalid_plan, message); }

constexpr std::string_view file_remedy = "put the file there, or take its name out of the map";

std::vector<std::string> maps_of(const std::string& directory) {
  const std::string named = "TUTTI_PLANS=" + in_quotes(directory) + ": ";
  std::error_code error;
  std::vector<std::string> maps;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name == "map" || (name.ends_with(".map") && name != ".map")) maps.push_back(name);
  }
  if (error)
    throw Error(Code::unavailable,
                named + error.message() + "; give a directory with a map and plans");
  if (maps.empty())
    refuse(named + "holds no map; write a file 'map' there that says which plan serves what");
  std::sort(maps.begin(), maps.end());
  return maps;
}

// Equal for equal text, different for different text, in this process.
uint64_t identity_of(std::string text) {
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::map<std::string, uint64_t>;
  const std::lock_guard lock(mutex);
  return known.emplace(std::move(text), known.size() + 1).first->second;
}

// Without the label, which has no meaning for execution.
std::string contents_of(plan::Plan plan) {
  plan.algorithm.clear();
  return plan::print(plan);
}

std::shared_ptr<const LoadedPlan> load_plan(const std::string& directory, const std::string& file,
                                            bool fixed_order) {
  const std::string path = directory + "/" + file;
  const std::string text = read_file(path, file_remedy);
  auto loaded = std::make_shared<LoadedPlan>();
  loaded->file = file;
  try {
    loaded->plan = file.ends_with(".tree") ? plan::read_tree(text, path) : plan::read(text, path);
    if (fixed_order) loaded->plan = plan::in_fixed_order(std::move(loaded->plan));
    loaded->verdict = plan::check(loaded->plan);
    loaded->shape = topo::parse_shape(loaded->plan.shape);
  } catch (const Error& error) {
    const std::string message = error.what();
    refuse(message.find(path) != std::string::npos ? message : path + ": " + message);
  }
  loaded->contents = identity_of(contents_of(loaded->plan));
  loaded->plan.algorithm = file;
  return loaded;
}

// A plan that could never serve a call of its rule is an error.
void check_fit(const LoadedRule& loaded) {
  const Rule& rule = loaded.rule;
  const plan::Plan& plan = loaded.plan->plan;
  const auto hold = [&](bool fits, const std::string& is, const std::string& wants) {
    if (!fits)
      refuse(loaded.place + ": " + rule.target + " is for " + is + ", the rule for " + wants +
             "; make them one");
  };
  hold(plan.collective == rule.collective, std::string(plan::name(plan.collective)),
       std::string(plan::name(rule.collective)));
  std::string wanted = std::to_string(rule.ranks_low);
  if (rule.ranks_high != rule.ranks_low) wanted += ".." + std::to_string(rule.ranks_high);
  hold(rule.ranks_low <= plan.ranks && plan.ranks <= rule.ranks_high,
       std::to_string(plan.ranks) + " ranks", wanted);
  hold(topo::agree(rule.shape, loaded.plan->shape), plan.shape, topo::print(rule.shape));
  hold(rule.root == any_root || rule.root == plan.root, "root " + std::to_string(plan.root),
       "root " + std::to_string(rule.root));
}

}  // namespace

Library load_library(const std::string& directory, bool fixed_order) {
  Library library;
  library.fingerprint = hash_of_nothing;
  std::map<std::string, std::shared_ptr<const LoadedPlan>> plans;
  for (const std::string& name : maps_of(directory)) {
    const std::string path = directory + "/" + name;
    for (Rule& rule : read_map(read_file(path, file_remedy), path).rules) {
      LoadedRule loaded{std::move(rule), path + ":", nullptr};
      loaded.place += std::to_string(loaded.rule.line);
      library.fingerprint = hashed(library.fingerprint, print(loaded.rule));
      if (!loaded.rule.builtin) {
        auto& plan = plans[loaded.rule.target];
        if (plan == nullptr) plan = load_plan(directory, loaded.rule.target, fixed_order);
        loaded.plan = plan;
        check_fit(loaded);
      }
      library.rules.push_back(std::move(loaded));
    }
  }
  for (const auto& [file, plan] : plans)
    library.fingerprint = hashed(library.fingerprint, contents_of(plan->plan));
  return library;
}

Match match(const Library& library, const Call& call) {
  Match result;
  for (const LoadedRule& loaded : library.rules) {
    if (!holds(loaded.rule, call, result.sizes)) continue;
    result.rule = &loaded;
    break;
  }
  return result;
}

std::string refusal(const LoadedPlan& loaded, const Call& call) {
  const plan::Plan& plan = loaded.plan;
  if (plan.ranks != call.ranks) {
    return "it is for " + std::to_string(plan.ranks) + " ranks, the communicator has " +
           std::to_string(call.ranks);
  }
  if (!loaded.shape.empty() && (call.shape.empty() || !topo::agree(loaded.shape, call.shape))) {
    return "it is for the shape " + plan.shape + ", the communicator runs on " +
           (call.shape.empty() ? "an unknown one" : topo::print(call.shape));
  }
  if (plan::rooted(plan.collective) && plan.root != call.root) {
    return "its root is " + std::to_string(plan.root) + ", and calls have others";
  }
  if (call.rank_order && !(loaded.verdict.rank_order && !loaded.verdict.arrival)) {
    return "it does not keep rank order, which operations that do not commute need";
  }
  if (call.same_expression && !loaded.verdict.uniform) {
    return "its ranks evaluate different expressions, so that floating point and user-defined "
           "operations could give them "
           "different bits";
  }
  return {};
}

namespace {

struct Refusals {
  std::mutex mutex;
  std::vector<std::string> lines;
};

// Never destroyed: exit handlers may still communicate.
Refusals& noted() {
  static Refusals& made = *new Refusals;
  return made;
}

}  // namespace

namespace {

std::atomic<bool> matched_plans{false}, matched_table{false};

}  // namespace

void note_matched_plans() { matched_plans = true; }
void note_matched_table() { matched_table = true; }
Matched matched() { return {matched_plans, matched_table}; }

void note_refusal(const LoadedRule& rule, const std::string& why) {
  constexpr size_t most = 1000;
  std::string line = rule.place + ": " + rule.rule.target + " is refused: " + why;
  Refusals& all = noted();
  const std::lock_guard lock(all.mutex);
  if (all.lines.size() == most ||
      std::find(all.lines.begin(), all.lines.end(), line) != all.lines.end())
    return;
  all.lines.push_back(std::move(line));
}

std::vector<std::string> refusals() {
  Refusals& all = noted();
  const std::lock_guard lock(all.mutex);
  return all.lines;
}

}  // namespace tutti::select
