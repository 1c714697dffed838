#include "trace/filter.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/error.h"
#include "plan/collective.h"
#include "plan/step_kinds.h"
#include "trace/ring.h"

namespace tutti::trace {
namespace {

constexpr double most_seconds = 1e9;

[[noreturn]] void refuse(std::string_view clause, const std::string& accepted) {
  throw Error(Code::invalid_argument, "TUTTI_TRACE_FILTER: '" + std::string(clause.substr(0, 80)) +
                                          "' is not understood; " + accepted);
}

// The words of a text between separators; empty ones, too.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  for (;;) {
    const size_t end = text.find(separator);
    words.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end + 1);
  }
}

template <class Number>
bool read(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

void read_collectives(std::string_view clause, std::string_view list, Filter& filter) {
  filter.collectives.reset();
  for (const std::string_view word : split(list, ',')) {
    std::string names;
    bool known = false;
    for (int number = 0; number < plan::collective_count; ++number) {
      const std::string_view name = plan::name(static_cast<plan::Collective>(number));
      names.append(names.empty() ? "" : ", ").append(name);
      if (name != word) continue;
      known = true;
      filter.collectives.set(static_cast<size_t>(number));
    }
    if (!known) refuse(clause, "collectives are " + names);
  }
}

void read_steps(std::string_view clause, std::string_view list, Filter& filter) {
  filter.kinds.reset();
  filter.kinds.set(static_cast<size_t>(Kind::elsewhere));
  for (const std::string_view word : split(list, ',')) {
    bool known = false;
    for (const plan::StepKindProperties& one : plan::step_kinds) {
      if (one.name != word && plan::name(one.group) != word) continue;
      known = true;
      filter.kinds.set(static_cast<size_t>(one.kind));
    }
    for (const KindProperties& one : kinds_beside_steps) {
      if (one.name != word && one.group != word) continue;
      known = true;
      filter.kinds.set(static_cast<size_t>(one.kind));
    }
    if (!known)
      refuse(clause, "steps are waiting, moving, reducing and telling, or kinds of `tutti trace`");
  }
}

void read_ranks(std::string_view clause, std::string_view list, Filter& filter) {
  for (const std::string_view word : split(list, ',')) {
    const size_t dots = word.find("..");
    int first = 0, last = 0;
    const bool is_range = dots != std::string_view::npos;
    const bool good = read(word.substr(0, dots), first) &&
                      (!is_range || read(word.substr(dots + 2), last)) &&
                      (!is_range || first <= last);
    if (!good) refuse(clause, "ranks are numbers and ranges, as in ranks=0..3,8");
    filter.ranks.emplace_back(first, is_range ? last : first);
  }
}

uint64_t read_time(std::string_view clause, std::string_view text) {
  double seconds = 0;
  if (!read(text, seconds) || !(seconds <= most_seconds))
    refuse(clause, "a time is a number of seconds since the trace began, as in from=0.5");
  return static_cast<uint64_t>(seconds * 1e9);
}

}  // namespace

bool Filter::has_rank(int rank) const {
  return ranks.empty() || std::any_of(ranks.begin(), ranks.end(), [&](const auto& range) {
           return range.first <= rank && rank <= range.second;
         });
}

Filter read_filter(std::string_view text) {
  Filter filter;
  std::vector<std::string_view> seen;
  for (const std::string_view clause : split(text, ' ')) {
    if (clause.empty()) continue;
    const size_t equals = clause.find('=');
    const std::string_view name = clause.substr(0, equals);
    const bool has_value = equals != std::string_view::npos && equals + 1 < clause.size();
    if (!has_value || std::find(seen.begin(), seen.end(), name) != seen.end())
      refuse(clause, "clauses are collectives=, ranks=, steps=, from= and until=, each once");
    seen.push_back(name);
    const std::string_view value = clause.substr(equals + 1);
    if (name == "collectives") {
      read_collectives(clause, value, filter);
    } else if (name == "ranks") {
      read_ranks(clause, value, filter);
    } else if (name == "steps") {
      read_steps(clause, value, filter);
    } else if (name == "from") {
      filter.from = read_time(clause, value);
    } else if (name == "until") {
      filter.until = read_time(clause, value);
    } else {
      refuse(clause, "clauses are collectives=, ranks=, steps=, from= and until=, each once");
    }
  }
  if (filter.from >= filter.until) refuse(text, "until= must be later than from=");
  return filter;
}

}  // namespace tutti::trace
