// The files that users edit (trees and maps), and the shapes of machines.

#include "plan/check.h"
#include "plan/plan.h"
#include "plan/tree_text.h"
#include "python/functions.h"
#include "select/library.h"
#include "select/map.h"
#include "topo/shape.h"

namespace tutti::python {
namespace {

Dict as_dict(const select::Rule& rule) {
  Dict dict;
  dict["line"] = rule.line;
  dict["collective"] = plan::name(rule.collective);
  dict["ranks"] = tuple_of(rule.ranks_low, rule.ranks_high);
  dict["shape"] = topo::print(rule.shape);
  dict["bytes"] =
      tuple_of(rule.bytes_low, rule.bytes_high == SIZE_MAX ? none() : to_python(rule.bytes_high));
  dict["root"] = rule.root == select::any_root ? none() : to_python(rule.root);
  dict["builtin"] = rule.builtin;
  dict["target"] = rule.target;
  dict["segment_bytes"] = rule.segment_bytes;
  dict["reach"] = select::reach_word(rule.reach);
  dict["text"] = select::print(rule);
  return dict;
}

Dict read_map(std::string_view text, std::string_view name) {
  const select::Map map = select::read_map(text, name);
  List rules;
  for (const select::Rule& rule : map.rules) rules.append(as_dict(rule));
  Dict dict;
  dict["name"] = map.name;
  dict["rules"] = rules;
  return dict;
}

// The rules of a directory of plans, loaded as a program under tutti-run loads it: every plan is
// read and checked, and must fit its rules.
List load_library(const std::string& directory) {
  List rules;
  for (const select::LoadedRule& loaded : select::load_library(directory, false).rules) {
    Dict dict = as_dict(loaded.rule);
    dict["place"] = loaded.place;
    dict["check"] = loaded.plan ? to_python(loaded.plan->verdict) : none();
    rules.append(dict);
  }
  return rules;
}

Dict shape_counts(std::string_view text) {
  const topo::Shape shape = topo::parse_shape(text);
  Dict dict;
  for (size_t i = 0; i < topo::shape_levels.size(); ++i) {
    const std::string_view level = topo::shape_levels[i];
    if (shape.counts[i] > 0) dict[level] = shape.counts[i];
  }
  return dict;
}

bool shapes_agree(std::string_view one, std::string_view other) {
  return topo::agree(topo::parse_shape(one), topo::parse_shape(other));
}

}  // namespace

void bind_maps(Module& module) {
  module.def<&plan::read_tree>("read_tree", "text"_a, "name"_a = "tree",
                               "The plan of a tree's text.");
  module.def<&read_map>(
      "read_map", "text"_a, "name"_a = "map",
      "A map's rules as dictionaries; the plan files that it names are not read.");
  module.def<&load_library>(
      "load_library", "directory"_a,
      "The rules of a directory, as programs load it, with the check's verdict on each plan.");
  module.def<&shape_counts>("shape_counts", "text"_a,
                            "The counts of a shape by level, from the outside in.");
  module.def<&shapes_agree>("shapes_agree", "one"_a, "other"_a,
                            "True if a plan for one shape may run on the other.");
}

}  // namespace tutti::python
