// The reader of the files that `tutti bench saturation` writes.
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/json_part.h"
#include "base/text.h"
#include "rma/saturation.h"
#include "topo/machine_name.h"

namespace tutti::rma {
namespace {

constexpr const char* format_name = "tutti-saturation 1";
constexpr double most_cores = 4096;
constexpr double most_messages = 1 << 20;
constexpr double most_bytes = 1 << 30;
constexpr double most_gigabytes = 1e6;
constexpr double most_nanoseconds = 1e9;
constexpr size_t most_values = 1 << 20;  // the most values of a kind

std::vector<size_t> ascending(const JsonPart& map, const char* member, double most) {
  const JsonPart list = map.at(member);
  const size_t count = list.must_be_list();
  std::vector<size_t> numbers;
  for (size_t i = 0; i < count; ++i) {
    const auto number = static_cast<size_t>(list.at(i).number(most, true));
    if (number <= (numbers.empty() ? 0 : numbers.back()))
      list.at(i).refuse("must be larger than the number before it, and than 0");
    numbers.push_back(number);
  }
  return numbers;
}

void must_have(const JsonPart& list, size_t count, const char* of) {
  if (list.must_be_list() != count)
    list.refuse("has " + std::to_string(list.json().size()) +
                " entries; there must be one for each of the " + std::to_string(count) + " \"" +
                of + "\"");
}

std::vector<double> grid(const JsonPart& document, const char* member, const SaturationMap& map) {
  const JsonPart by_cores = document.at(member);
  must_have(by_cores, map.cores.size(), "cores");
  std::vector<double> values;
  for (size_t c = 0; c < map.cores.size(); ++c) {
    const JsonPart by_messages = by_cores.at(c);
    must_have(by_messages, map.messages.size(), "messages");
    for (size_t m = 0; m < map.messages.size(); ++m) {
      const JsonPart by_bytes = by_messages.at(m);
      must_have(by_bytes, map.bytes.size(), "bytes");
      for (size_t b = 0; b < map.bytes.size(); ++b) {
        values.push_back(by_bytes.at(b).number(most_gigabytes));
        if (values.back() <= 0) by_bytes.at(b).refuse("must be larger than 0 GB/s");
      }
    }
  }
  return values;
}

HandOver hand_over_of(const JsonPart& part, const SaturationMap& map) {
  part.must_be_object({"client", "server", "latency"});
  HandOver cost{.client = part.number("client", most_nanoseconds),
                .server = {},
                .latency = part.number("latency", most_nanoseconds)};
  const JsonPart server = part.at("server");
  must_have(server, map.bytes.size(), "bytes");
  for (size_t b = 0; b < map.bytes.size(); ++b)
    cost.server.push_back(server.at(b).number(most_nanoseconds));
  return cost;
}

SaturationMap::Served served_by(const JsonPart& part, const SaturationMap& map) {
  constexpr double most_servers = 64;
  part.must_be_object({"servers", "puts", "gets"});
  return {.servers = static_cast<size_t>(part.at("servers").number(most_servers, true)),
          .puts = grid(part, "puts", map),
          .gets = grid(part, "gets", map)};
}

// A list, or the one entry itself.
std::vector<SaturationMap::Served> served_of(const JsonPart& part, const SaturationMap& map) {
  if (part.json().is_object()) return {served_by(part, map)};
  std::vector<SaturationMap::Served> served;
  for (size_t i = 0, count = part.must_be_list(); i < count; ++i)
    served.push_back(served_by(part.at(i), map));
  return served;
}

Scope scope_of(const JsonPart& document) {
  if (!document.has("scope")) return Scope::node;
  const std::string name = document.text("scope");
  if (name == "between nodes") return Scope::between_nodes;
  if (name != "node") document.at("scope").refuse("must be \"node\" or \"between nodes\"");
  return Scope::node;
}

}  // namespace

SaturationMap read_saturation(std::string_view text, std::string_view file) {
  const Json json = Json::parse(text, nullptr, false);
  const JsonPart document(json, "", file);
  if (json.is_discarded())
    document.refuse(
        "is no JSON; give a file that `tutti bench saturation --json-file` has written");
  if (!json.is_object() || !document.has("format") || document.text("format") != format_name)
    document.refuse(std::string("has not the format \"") + format_name +
                    "\"; measure anew by `tutti bench saturation --json-file`");
  SaturationMap map;
  map.where = document.text("where");
  map.cores = ascending(document, "cores", most_cores);
  map.messages = ascending(document, "messages", most_messages);
  map.bytes = ascending(document, "bytes", most_bytes);
  if (map.cores.size() * map.messages.size() * map.bytes.size() > most_values)
    document.refuse("has more than 2^20 combinations of cores, messages and bytes; leave some out");
  map.puts = grid(document, "puts", map);
  map.gets = grid(document, "gets", map);
  map.scope = scope_of(document);
  if (map.scope == Scope::between_nodes && document.has("served"))
    map.served = served_of(document.at("served"), map);
  if (map.scope == Scope::node) map.hand_over = hand_over_of(document.at("hand_over"), map);
  return map;
}

SaturationMap load_saturation(const std::string& file) {
  std::ifstream stream(file);
  const std::string text((std::istreambuf_iterator<char>(stream)),
                         std::istreambuf_iterator<char>());
  if (!stream)
    throw Error(Code::unavailable, file + ": cannot be read; give a file that " +
                                       "`tutti bench saturation --json-file` has written");
  return read_saturation(text, file);
}

SaturationMap load_saturation_of_here(const std::string& file) {
  SaturationMap map = load_saturation(file);
  const std::string here = this_machine();
  if (map.where != here)
    throw Error(Code::invalid_argument,
                file + ": is of another machine, " + in_quotes(map.where) + ", and this is \"" +
                    here + "\"; measure here by `tutti bench saturation --json-file`");
  return map;
}

std::string this_machine() {
  return topo::processor_name() + ", " + std::to_string(sysconf(_SC_NPROCESSORS_CONF)) +
         " processing units";
}

}  // namespace tutti::rma
