#include "model/injection/machine.h"

#include <algorithm>

#include "base/error.h"
#include "base/json_part.h"
#include "base/text.h"

namespace tutti::injection {
namespace {

constexpr const char* format_name = "tutti-injection 1";
constexpr double most_nanoseconds = 1e9;
constexpr double most_a_byte = 1000;
constexpr double most_bytes = 1 << 30;
constexpr double most_count = 4096;

// The entries have ascending sizes.
size_t size_of(const JsonPart& part, size_t before) {
  const auto bytes = static_cast<size_t>(part.number("most_bytes", most_bytes, true));
  if (bytes <= before) part.at("most_bytes").refuse("must be larger than in the entry before it");
  return bytes;
}

int32_t count_of(const JsonPart& part, const char* member) {
  const auto count = static_cast<int32_t>(part.number(member, most_count, true));
  if (count < 1) part.at(member).refuse("must be at least 1");
  return count;
}

std::vector<Protocol> protocols_of(const JsonPart& list) {
  std::vector<Protocol> protocols;
  const size_t count = list.must_be_list();
  for (size_t i = 0; i < count; ++i) {
    const JsonPart part = list.at(i);
    part.must_be_object({"name", "most_bytes", "overhead", "overhead_byte", "completion",
                         "in_flight", "gap", "byte", "crowding", "latency"});
    protocols.push_back({
        .name = part.text("name"),
        .most_bytes = size_of(part, protocols.empty() ? 0 : protocols.back().most_bytes),
        .overhead = part.number("overhead", most_nanoseconds),
        .overhead_byte = part.number("overhead_byte", most_a_byte),
        .completion = part.number("completion", most_nanoseconds),
        .in_flight = count_of(part, "in_flight"),
        .gap = part.number("gap", most_nanoseconds),
        .byte = part.number("byte", most_a_byte),
        .crowding = part.number("crowding", 1),
        .latency = part.number("latency", most_nanoseconds),
    });
  }
  return protocols;
}

HandOver hand_over_of(const JsonPart& part) {
  part.must_be_object({"post", "take", "retire", "check", "latency"});
  return {.post = part.number("post", most_nanoseconds),
          .take = part.number("take", most_nanoseconds),
          .retire = part.number("retire", most_nanoseconds),
          .check = part.number("check", most_nanoseconds),
          .latency = part.number("latency", most_nanoseconds)};
}

std::vector<Served> served_of(const JsonPart& list) {
  std::vector<Served> served;
  const size_t count = list.must_be_list();
  for (size_t i = 0; i < count; ++i) {
    const JsonPart part = list.at(i);
    part.must_be_object({"most_bytes", "overhead", "overhead_byte"});
    served.push_back({.most_bytes = size_of(part, served.empty() ? 0 : served.back().most_bytes),
                      .overhead = part.number("overhead", most_nanoseconds),
                      .overhead_byte = part.number("overhead_byte", most_a_byte)});
  }
  return served;
}

}  // namespace

Machine read_machine(const Json& json, std::string_view file) {
  const JsonPart part(json, "", file);
  part.must_be_object({"format", "name", "what", "source", "fixed", "nodes", "cores", "domains",
                       "puts", "gets", "hand_over", "served"});
  if (part.text("format") != format_name)
    part.at("format").refuse(std::string("must be \"") + format_name + "\"");
  Machine machine{.name = part.text("name"),
                  .what = part.text("what"),
                  .source = part.text("source"),
                  .cores = count_of(part, "cores"),
                  .domains = count_of(part, "domains"),
                  .puts = protocols_of(part.at("puts")),
                  .gets = protocols_of(part.at("gets")),
                  .hand_over = hand_over_of(part.at("hand_over")),
                  .served = {}};
  if (part.has("served")) machine.served = served_of(part.at("served"));
  return machine;
}

const Protocol& protocol_of(const Machine& machine, rma::Kind kind, size_t bytes) {
  const std::vector<Protocol>& all = kind == rma::Kind::put ? machine.puts : machine.gets;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Protocol& protocol) {
    return bytes <= protocol.most_bytes;
  });
  if (found == all.end())
    throw Error(Code::invalid_argument, machine.name + ": no protocol is for messages of " +
                                            std::to_string(bytes) + " bytes; give shorter ones");
  return *found;
}

Served served_cost(const Machine& machine, size_t bytes) {
  const auto found = std::find_if(machine.served.begin(), machine.served.end(),
                                  [&](const Served& one) { return bytes <= one.most_bytes; });
  return found == machine.served.end() ? Served{} : *found;
}

}  // namespace tutti::injection
