// JSON texts, by nlohmann's library.
//
// A Json value belongs to its creator, as a std::map does, and to one thread at a time. Making
// one allocates memory, so it serves what happens once: reports, the header of a trace, and the
// description of a program in it. scripts/check_includes.py lists the files that may include this
// header; no call of a collective reaches one of them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

// Objects keep the order in which their members are added.
using Json = nlohmann::ordered_json;

// The value's text on one line. With `indent`, each member or element has a line of its own, and
// each level is indented by that number of spaces. Bytes that are not UTF-8 become U+FFFD, and
// numbers that are not finite become null.
std::string json_text(const Json& value, int indent = -1);

// The value rounded to `places` decimal places, so that its text has no meaningless digits.
double rounded(double value, int places);

// Texts of JSON values are put together without being parsed again, because those of all ranks'
// programs may take 128 MiB.
std::string json_array(const std::vector<std::string>& values);
// `object`, which has a member already, with one more.
std::string json_object_with(const Json& object, std::string_view name, const std::string& value);

}  // namespace tutti
