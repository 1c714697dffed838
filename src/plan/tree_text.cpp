#include "plan/tree_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "plan/fault.h"
#include "plan/forest.h"
#include "plan/text_line.h"

namespace tutti::plan {
namespace {

constexpr std::string_view first_line = "tutti-tree 1";
constexpr std::array<std::string_view, 9> words = {"collective", "algorithm", "ranks",
                                                   "root",       "shape",     "any_order",
                                                   "stepwise",   "reduce",    "bcast"};
constexpr size_t setting_count = 7;

std::string nearest_word(std::string_view word) {
  for (std::string_view known : words) {
    if (word.size() <= 2 * known.size() && edit_distance(word, known) <= 2) {
      return "; is it '" + std::string(known) + "'?";
    }
  }
  return "; a line is a setting (collective, algorithm, ranks, root, shape, any_order, "
         "stepwise) or a "
         "parent's list "
         "(reduce 0: 1 2, bcast 0: 1 2)";
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view name) : lines_(text, name) {}

  Trees trees() {
    read();
    return std::move(trees_);
  }

  Plan plan() {
    read();
    Plan plan = forest_->plan(trees_);
    plan.files = {std::string(lines_.name())};
    return plan;
  }

 private:
  void read() {
    while (lines_.next()) {
      Line line = lines_.line();
      if (line.at_end()) continue;
      if (!std::exchange(has_version_, true)) {
        expect_version(line, "tree");
      } else {
        statement(line);
      }
    }
    end_header();
    if (const std::optional<Fault> fault = forest_->end()) {
      refuse(lines_.place(fault->line == 0 ? lines_.number() : fault->line), fault->message);
    }
    forest_->give_lists(trees_);
  }

  void statement(Line& line) {
    const std::string_view whole = line.rest();
    const std::string_view word = line.word();
    const auto place_of_word = std::find(words.begin(), words.end(), word);
    if (place_of_word == words.end()) {
      line.refuse("unknown word " + quoted(word.empty() ? whole : word) + nearest_word(word));
    }
    const auto which = static_cast<size_t>(place_of_word - words.begin());
    if (which >= setting_count) {
      if (!forest_) end_header();
      list(line, word);
      return;
    }
    if (forest_)
      line.refuse("'" + std::string(word) + "' after the first list; move it before the lists");
    if (set_at_[which] != 0) {
      line.refuse("'" + std::string(word) + "' a second time; the first is at " +
                  lines_.place(set_at_[which]) + ", keep one");
    }
    if (line.at_end()) line.refuse("'" + std::string(word) + "' without a value; write it behind");
    set_at_[which] = lines_.number();
    set(line, word);
  }

  void set(Line& line, std::string_view word) {
    if (word == "algorithm" || word == "shape") {
      const std::string fault =
          word == "shape" ? shape_fault(line.rest()) : label_fault(line.rest());
      if (!fault.empty()) line.refuse(fault);
      (word == "shape" ? trees_.shape : trees_.algorithm) = std::string(line.rest());
      return;
    }
    if (word == "collective") trees_.collective = collective(line);
    if (word == "any_order") trees_.any_order = yes_or_no(line, word);
    if (word == "stepwise") trees_.stepwise = yes_or_no(line, word);
    if (word == "root") trees_.root = line.number("the root");
    if (word == "ranks") {
      trees_.ranks = line.number("the number of ranks");
      if (trees_.ranks < 1 || trees_.ranks > max_ranks) {
        line.refuse("the number of ranks is " + std::to_string(trees_.ranks) + "; it is 1 to " +
                    std::to_string(max_ranks));
      }
    }
    line.expect_end();
  }

  static Collective collective(Line& line) {
    const std::string_view whole = line.rest();
    const std::string_view word = line.word();
    std::string names;
    for (int i = 0; i < collective_count; ++i) {
      const auto one = static_cast<Collective>(i);
      if (!has_trees(one)) continue;
      if (name(one) == word) return one;
      names.append(names.empty() ? "" : ", ").append(name(one));
    }
    line.refuse("there are no trees of " + quoted(whole) + "; they are of one of " + names);
  }

  static bool yes_or_no(Line& line, std::string_view word) {
    if (line.take_word("yes")) return true;
    if (line.take_word("no")) return false;
    line.refuse(std::string(word) + " is yes or no, not " + quoted(line.rest()));
  }

  int32_t set_at(std::string_view word) const {
    return set_at_[static_cast<size_t>(std::find(words.begin(), words.end(), word) -
                                       words.begin())];
  }

  // Refuses what only the whole header shows to be wrong, with the line of the setting at fault.
  void end_header() {
    if (!has_version_)
      refuse(lines_.place(),
             "the text is empty; a tree begins with '" + std::string(first_line) + "'");
    for (std::string_view word : {"collective", "ranks"}) {
      if (set_at(word) == 0) {
        refuse(lines_.place(),
               "the tree does not say its '" + std::string(word) + "'; set it before the lists");
      }
    }
    if (trees_.root >= trees_.ranks) {
      refuse(lines_.place(set_at("root")), "there is no rank " + std::to_string(trees_.root) +
                                               " to be the root; ranks are 0 to " +
                                               std::to_string(trees_.ranks - 1));
    }
    for (const std::string_view word : {"any_order", "stepwise"}) {
      const bool is_set = word == "stepwise" ? trees_.stepwise : trees_.any_order;
      if (is_set && one_buffer(trees_.collective))
        refuse(lines_.place(set_at(word)), "a bcast combines nothing; remove the line");
    }
    if (trees_.any_order && trees_.stepwise) {
      refuse(lines_.place(set_at("stepwise")),
             "any_order and stepwise exclude each other; remove one of the two lines");
    }
    if (!forest_) forest_.emplace(trees_);
  }

  // `reduce PARENT: CHILD...`
  void list(Line& line, std::string_view word) {
    const TreeKind kind = word == "reduce" ? TreeKind::reduce : TreeKind::bcast;
    const auto hold = [&](const std::string& fault) {
      if (!fault.empty()) line.refuse(fault);
    };
    hold(forest_->begin_list(kind, line.number("the parent's rank"), lines_.number()));
    line.expect(":", "the parent");
    while (!line.at_end()) {
      const int64_t first = line.number("a child's rank");
      int64_t last = first, step = 1;
      if (line.take("..")) {
        last = line.number("the last rank of the range");
        if (line.take("/")) step = line.number("the step of the range");
        if (last < first || step < 1)
          line.refuse("an empty range; write FIRST..LAST or FIRST..LAST/STEP, upwards");
      }
      for (int64_t child = first; child <= last; child += step)
        hold(forest_->add(static_cast<int32_t>(child)));
    }
    hold(forest_->end_list());
  }

  Lines lines_;
  bool has_version_ = false;
  std::array<int32_t, setting_count>
      set_at_{};  // the line of each setting, in the order of `words`; 0: none
  Trees trees_;
  std::optional<Forest> forest_;  // from the end of the header on
};

// The length of the rising run with equal steps that starts at `at`, if a range is shorter to write
// than the ranks.
size_t run_length(const std::vector<int32_t>& ranks, size_t at) {
  size_t end = at + 1;
  const auto step = [&](size_t i) { return ranks[i] - ranks[i - 1]; };
  while (end < ranks.size() && step(end) > 0 && step(end) == step(at + 1)) ++end;
  const size_t length = end - at;
  const bool shorter = length >= 4 || (length == 3 && step(at + 1) == 1);
  return shorter ? length : 1;
}

void append_lists(std::string& text, std::string_view word, const Trees::Children& children) {
  for (size_t parent = 0; parent < children.size(); ++parent) {
    const std::vector<int32_t>& list = children[parent];
    if (list.empty()) continue;
    text.append(word).append(" ").append(std::to_string(parent)).append(":");
    for (size_t i = 0; i < list.size();) {
      const size_t length = run_length(list, i);
      text.append(" ").append(std::to_string(list[i]));
      if (length > 1) text.append("..").append(std::to_string(list[i + length - 1]));
      if (length > 1 && list[i + 1] - list[i] > 1)
        text.append("/").append(std::to_string(list[i + 1] - list[i]));
      i += length;
    }
    text += '\n';
  }
}

}  // namespace

Trees read_trees(std::string_view text, std::string_view name) {
  return Reader(text, name).trees();
}

Plan read_tree(std::string_view text, std::string_view name) { return Reader(text, name).plan(); }

std::string print(const Trees& trees) {
  std::string text =
      std::string(first_line) + "\ncollective " + std::string(name(trees.collective)) + '\n';
  if (!trees.algorithm.empty()) text += "algorithm " + trees.algorithm + '\n';
  text += "ranks " + std::to_string(trees.ranks) + '\n';
  if (rooted(trees.collective) || trees.root != 0)
    text += "root " + std::to_string(trees.root) + '\n';
  if (!trees.shape.empty()) text += "shape " + trees.shape + '\n';
  if (trees.any_order) text += "any_order yes\n";
  if (trees.stepwise) text += "stepwise yes\n";
  append_lists(text, "reduce", trees.reduce);
  append_lists(text, "bcast", trees.bcast);
  return text;
}

}  // namespace tutti::plan
