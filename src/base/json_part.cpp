#include "base/json_part.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace tutti {

void JsonPart::refuse(const std::string& what) const {
  throw Error(Code::invalid_argument,
              std::string(file_) + ": " + (place_.empty() ? "" : place_ + ": ") + what);
}

void JsonPart::must_be_object(const std::vector<std::string_view>& members) const {
  if (!json_.is_object()) refuse("must be an object, as in {\"step\": 2}");
  for (const auto& [key, value] : json_.items()) {
    if (std::find(members.begin(), members.end(), key) != members.end()) continue;
    std::string known;
    for (const std::string_view member : members)
      known.append(known.empty() ? "" : ", ").append(member);
    refuse("unknown member " + in_quotes(key) + "; known are " + known);
  }
}

size_t JsonPart::must_be_list() const {
  if (!json_.is_array() || json_.empty()) refuse("must be a list with at least one entry");
  return json_.size();
}

JsonPart JsonPart::at(std::string_view member) const {
  if (!has(member)) refuse("lacks the member \"" + std::string(member) + "\"");
  const std::string name(member);
  return {json_.at(name), place_.empty() ? name : place_ + "." + name, file_};
}

JsonPart JsonPart::at(size_t index) const {
  return {json_.at(index), place_ + "[" + std::to_string(index) + "]", file_};
}

std::string JsonPart::text(std::string_view member) const {
  const JsonPart part = at(member);
  if (!part.json_.is_string()) part.refuse("must be a text in quotes");
  return part.json_.get<std::string>();
}

double JsonPart::number(std::string_view member, double most, bool whole) const {
  return at(member).number(most, whole);
}

double JsonPart::number(double most, bool whole) const {
  if (!json_.is_number()) refuse("must be a number");
  const auto value = json_.get<double>();
  if (!(value >= 0) || value > most || (whole && value != std::floor(value)))
    refuse("is " + json_.dump() + "; it must be " + (whole ? "an integer" : "a number") +
           " from 0 to " + Json(most).dump());
  return value;
}

}  // namespace tutti
