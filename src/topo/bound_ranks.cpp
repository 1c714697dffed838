#include "topo/bound_ranks.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/error.h"

namespace tutti::topo {

Shape given_shape(const std::string& given) {
  try {
    return parse_shape(given);
  } catch (const Error&) {
    return {};
  }
}

Levels levels_of_bound(const std::vector<std::vector<int>>& bindings, const std::string& given,
                       const std::string& system) {
  if (std::adjacent_find(bindings.begin(), bindings.end(), std::not_equal_to<>()) == bindings.end())
    return {};
  const Shape shape = given_shape(given);
  if (!shape.empty()) return levels_of(bindings, places_of(shape));
  std::set<int> units;
  for (const std::vector<int>& binding : bindings) units.insert(binding.begin(), binding.end());
  return levels_of(bindings, places_of_system({units.begin(), units.end()}, system));
}

}  // namespace tutti::topo
