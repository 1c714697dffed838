#include "base/json.h"

#include <cmath>

namespace tutti {

std::string json_text(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

double rounded(double value, int places) {
  const double scale = std::pow(10.0, places);
  return std::round(value * scale) / scale;
}

std::string json_array(const std::vector<std::string>& values) {
  std::string text = "[";
  for (const std::string& value : values) {
    if (text.size() > 1) text += ",\n";
    text += value;
  }
  return text + "]";
}

std::string json_object_with(const Json& object, std::string_view name, const std::string& value) {
  std::string text = json_text(object);
  text.back() = ',';
  return text + "\n" + json_text(name) + ":" + value + "}";
}

}  // namespace tutti
