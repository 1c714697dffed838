#include "model/links.h"

#include <utility>

#include "base/error.h"

namespace tutti::model {

Links::Links(const Question& question) : ranks_(question.programs.size()) {
  node_of_ = question.nodes.of().values();
  if (node_of_.empty()) node_of_.assign(ranks_, 0);
  add("node", node_of_, question.machine);
  for (const placement::SharedLevel& level : question.levels) {
    if (level.name == "node" || level.name == "cluster") continue;
    std::vector<int32_t> group_of = level.group_of.values();
    if (is_shared(group_of)) add(level.name, std::move(group_of), question.machine);
  }
  first_memory_ = links_.size();
  for (size_t node = 0; node < nodes(); ++node) {
    links_.emplace_back();
    names_.push_back("messages within node " + std::to_string(node));
  }
}

size_t Links::between(int32_t one, int32_t other) const {
  const auto a = static_cast<size_t>(one), b = static_cast<size_t>(other);
  for (size_t i = groups_.size(); i-- > 1;)
    if (groups_[i][a] == groups_[i][b]) return first_[i] + static_cast<size_t>(groups_[i][a]);
  return first_[0] + static_cast<size_t>(groups_[0][a]);
}

bool Links::is_shared(std::vector<int32_t> group_of) {
  std::sort(group_of.begin(), group_of.end());
  return std::adjacent_find(group_of.begin(), group_of.end()) != group_of.end();
}

void Links::add(const std::string& level, std::vector<int32_t> group_of, const Machine& machine) {
  const LevelCost* const cost = machine.find(level);
  const bool is_as_outside = !groups_.empty() && groups_.back() == group_of;
  if (cost == nullptr && is_as_outside) return;
  if (cost == nullptr)
    throw Error(Code::invalid_argument,
                "machine '" + machine.name + "' has no costs of the level '" + level +
                    "', which these ranks have; add them to \"levels\" in its file");
  if (is_as_outside) {  // the costs of the inner level hold
    links_.resize(first_.back());
    costs_.resize(first_.back());
    names_.resize(first_.back());
    first_.pop_back();
    groups_.pop_back();
  }
  first_.push_back(links_.size());
  const int32_t most = *std::max_element(group_of.begin(), group_of.end());
  for (int32_t group = 0; group <= most; ++group) {
    links_.emplace_back();
    costs_.push_back(cost);
    names_.push_back(level + " " + std::to_string(group));
  }
  groups_.push_back(std::move(group_of));
}

}  // namespace tutti::model
