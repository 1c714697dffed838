// The files that users edit (trees and maps), and the shapes of machines.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "plan/check.h"
#include "plan/plan.h"
#include "plan/tree_text.h"
#include "python/bindings.h"
#include "select/library.h"
#include "select/map.h"
#include "topo/shape.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tutti::python {
namespace {

nb::dict as_dict(const select::Rule& rule) {
  nb::dict dict;
  dict["line"] = rule.line;
  dict["collective"] = plan::name(rule.collective);
  dict["ranks"] = nb::make_tuple(rule.ranks_low, rule.ranks_high);
  dict["shape"] = topo::print(rule.shape);
  dict["bytes"] = nb::make_tuple(rule.bytes_low, rule.bytes_high == SIZE_MAX
                                                     ? nb::none()
                                                     : nb::object(nb::int_(rule.bytes_high)));
  dict["root"] = rule.root == select::any_root ? nb::none() : nb::object(nb::int_(rule.root));
  dict["builtin"] = rule.builtin;
  dict["target"] = rule.target;
  dict["segment_bytes"] = rule.segment_bytes;
  dict["reach"] = select::reach_word(rule.reach);
  dict["text"] = select::print(rule);
  return dict;
}

nb::dict read_map(std::string_view text, std::string_view name) {
  const select::Map map = select::read_map(text, name);
  nb::list rules;
  for (const select::Rule& rule : map.rules) rules.append(as_dict(rule));
  nb::dict dict;
  dict["name"] = map.name;
  dict["rules"] = rules;
  return dict;
}

// The rules of a directory of plans, loaded as a program under tutti-run loads it: every plan is
// read and checked, and must fit its rules.
nb::list load_library(const std::string& directory) {
  nb::list rules;
  for (const select::LoadedRule& loaded : select::load_library(directory, false).rules) {
    nb::dict dict = as_dict(loaded.rule);
    dict["place"] = loaded.place;
    dict["check"] = loaded.plan ? nb::cast(loaded.plan->verdict) : nb::none();
    rules.append(dict);
  }
  return rules;
}

nb::dict shape_counts(std::string_view text) {
  const topo::Shape shape = topo::parse_shape(text);
  nb::dict dict;
  for (size_t i = 0; i < topo::shape_levels.size(); ++i) {
    const std::string_view level = topo::shape_levels[i];
    if (shape.counts[i] > 0) dict[nb::str(level.data(), level.size())] = shape.counts[i];
  }
  return dict;
}

}  // namespace

void bind_maps(nb::module_& module) {
  module.def("read_tree", &plan::read_tree, "text"_a, "name"_a = "tree",
             "The plan of a tree's text.");
  module.def("read_map", &read_map, "text"_a, "name"_a = "map",
             "A map's rules as dictionaries; the plan files that it names are not read.");
  module.def(
      "load_library", &load_library, "directory"_a,
      "The rules of a directory, as programs load it, with the check's verdict on each plan.");
  module.def("shape_counts", &shape_counts, "text"_a,
             "The counts of a shape by level, from the outside in.");
  module.def(
      "shapes_agree",
      [](std::string_view one, std::string_view other) {
        return topo::agree(topo::parse_shape(one), topo::parse_shape(other));
      },
      "one"_a, "other"_a, "True if a plan for one shape may run on the other.");
}

}  // namespace tutti::python
