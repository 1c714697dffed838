#include "model/machine.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/json_part.h"
#include "base/options.h"
#include "base/text.h"

namespace tutti::model {
namespace {

// Ten seconds: no step takes longer, so a larger number is in another unit.
constexpr double most_nanoseconds = 1e10;
constexpr double most_a_byte = 1000;

constexpr std::array<std::string_view, 5> level_names = {"node", "socket", "numa", "cache", "core"};

using Part = JsonPart;

double nanoseconds(const Part& part, std::string_view member) {
  return part.number(member, most_nanoseconds);
}
double a_byte(const Part& part, std::string_view member) {
  return part.number(member, most_a_byte);
}

// A number, or an object of numbers by length.
ByteCost by_length(const Part& from, std::string_view member) {
  const Part part = from.at(member);
  if (!part.json().is_object()) return a_byte(from, member);
  std::vector<std::pair<double, double>> points;
  for (const auto& [key, value] : part.json().items()) {
    double length = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), length);
    if (error != std::errc() || end != key.data() + key.size() || !(length >= 1) ||
        (!points.empty() && length <= points.back().first))
      part.refuse("the length " + in_quotes(key) +
                  " must be a number of bytes, each larger than "
                  "the one before, as in {\"4096\": 0.1, \"1048576\": 0.2}");
    points.emplace_back(length, part.number(key, most_a_byte));
  }
  if (points.empty()) part.refuse("must have the cost of one length at least");
  return ByteCost(std::move(points));
}

int place_of(std::string_view level) {
  return static_cast<int>(std::find(level_names.begin(), level_names.end(), level) -
                          level_names.begin());
}

Json json_of(const ByteCost& cost) {
  if (cost.points().size() == 1) return cost.points().front().second;
  Json json = Json::object();
  for (const auto& [length, time] : cost.points())
    json[Json(static_cast<uint64_t>(length)).dump()] = time;
  return json;
}

// True at some length of either. The tolerance is for numbers that were rounded.
bool exceeds(const ByteCost& one, const ByteCost& other) {
  const auto is_more = [&](const auto& point) {
    return one.at(point.first) > other.at(point.first) * (1 + 1e-4);
  };
  return std::any_of(one.points().begin(), one.points().end(), is_more) ||
         std::any_of(other.points().begin(), other.points().end(), is_more);
}

// The costs that a level need not have. Another one that is named here must be there, too.
struct OptionalCost {
  const char* name;
  std::optional<ByteCost> LevelCost::* cost;
  const char* needs = nullptr;
  const char* why = nullptr;
};
constexpr OptionalCost optional_costs[] = {
    {"shared_add", &LevelCost::shared_add},
    {"add_same", &LevelCost::add_same},
    {"write", &LevelCost::write},
    {"shared_write", &LevelCost::shared_write, "write", "it is the link's part, so give both"},
    {"write_past", &LevelCost::write_past, "write",
     "a writer chooses between the two, so give both"},
    {"byte_past", &LevelCost::byte_past, "write_past",
     "it is what readers take for data that was written past the cache, so give both"},
    {"write_in_place", &LevelCost::write_in_place},
    {"system", &LevelCost::system}};

LevelCost read_costs(const Part& part) {
  std::vector<std::string_view> members = {"name", "hand_over", "byte",
                                           "add",  "shared",    "exchange"};
  for (const OptionalCost& row : optional_costs) members.push_back(row.name);
  part.must_be_object(members);
  LevelCost level{part.text("name"), nanoseconds(part, "hand_over"), by_length(part, "byte"),
                  by_length(part, part.has("add") ? "add" : "byte"), by_length(part, "shared")};
  for (const OptionalCost& row : optional_costs) {
    if (!part.has(row.name)) continue;
    level.*row.cost = by_length(part, row.name);
    if (row.needs != nullptr && !part.has(row.needs))
      part.refuse("has " + in_quotes(row.name) + " without " + in_quotes(row.needs) + "; " +
                  row.why);
  }
  if (part.has("exchange")) level.exchange = nanoseconds(part, "exchange");
  return level;
}

// Refuses costs that contradict each other.
void check_costs(const Part& part, const LevelCost& level) {
  if (level.exchange && *level.exchange < level.hand_over)
    part.refuse(
        "\"exchange\" is less than \"hand_over\"; it is two hand-overs at once, which cannot be "
        "quicker than one");
  const auto link_is_quicker = [&](const char* shared, const ByteCost& of_link, const char* alone,
                                   const ByteCost& of_one, const char* access) {
    if (exceeds(of_link, of_one))
      part.refuse(in_quotes(shared) + " is more than " + in_quotes(alone) + "; one " + access +
                  " alone takes " + in_quotes(alone) +
                  " a byte, and the link that all share cannot be slower");
  };
  link_is_quicker("shared", level.shared, "byte", level.byte, "access");
  if (level.shared_add)
    link_is_quicker("shared_add", *level.shared_add, "add", level.add, "access");
  if (level.shared_write)
    link_is_quicker("shared_write", *level.shared_write, "write", *level.write, "write");
}

// Refuses a level that does not follow the one outside it; null: it is the outermost.
void check_place(const Part& part, const LevelCost& level, const LevelCost* outside) {
  if (place_of(level.name) == static_cast<int>(level_names.size()))
    part.refuse("there is no level " + in_quotes(level.name) +
                "; levels are node, socket, numa, cache, core");
  if (outside == nullptr && level.name != "node")
    part.refuse("the first level must be \"node\", whose costs hold where no other level does");
  if (outside != nullptr && place_of(level.name) <= place_of(outside->name))
    part.refuse(in_quotes(level.name) + " must stand before " + in_quotes(outside->name) +
                ", because levels are listed from the outside in, each once");
}

std::vector<LevelCost> read_levels_of(const Part& part) {
  std::vector<LevelCost> levels;
  const size_t count = part.must_be_list();
  for (size_t i = 0; i < count; ++i) {
    LevelCost level = read_costs(part.at(i));
    check_place(part.at(i), level, levels.empty() ? nullptr : &levels.back());
    check_costs(part.at(i), level);
    levels.push_back(std::move(level));
  }
  return levels;
}

}  // namespace

double ByteCost::at(double bytes) const {
  const auto next = std::find_if(points_.begin(), points_.end(),
                                 [&](const auto& point) { return point.first >= bytes; });
  if (next == points_.begin()) return next->second;
  if (next == points_.end()) return points_.back().second;
  const auto& [from, before] = *(next - 1);
  const double begin = from * before, end = next->first * next->second;
  return (begin + (bytes - from) / (next->first - from) * (end - begin)) / bytes;
}

const LevelCost* Machine::find(std::string_view level) const {
  const auto found = std::find_if(levels.begin(), levels.end(),
                                  [&](const LevelCost& cost) { return cost.name == level; });
  return found == levels.end() ? nullptr : &*found;
}

Machine read_machine(std::string_view text, std::string_view file) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    const auto at = std::min(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n');
    throw Error(Code::invalid_argument,
                std::string(file) + ":" + std::to_string(line) + ": not valid JSON");
  }
  const Part all(json, "", file);
  all.must_be_object(
      {"format", "name", "what", "shape", "source", "levels", "own", "network", "messages"});
  if (const std::string format = all.text("format"); format != machine_format)
    all.refuse("the format is " + in_quotes(format) + ", but this version reads \"" +
               std::string(machine_format) + "\"");
  Machine machine;
  machine.name = all.text("name");
  machine.what = all.has("what") ? all.text("what") : "";
  machine.shape = all.has("shape") ? all.text("shape") : "";
  machine.source = all.has("source") ? all.text("source") : "";
  machine.levels = read_levels_of(all.at("levels"));
  const Part own = all.at("own");
  own.must_be_object({"call", "step", "copy", "combine", "yield"});
  machine.own = {nanoseconds(own, "call"), nanoseconds(own, "step"), by_length(own, "copy"),
                 by_length(own, "combine")};
  if (own.has("yield")) machine.own.yield = nanoseconds(own, "yield");
  if (all.has("network")) {
    const Part network = all.at("network");
    network.must_be_object({"overhead", "latency", "gap", "byte", "prompt", "mpi"});
    machine.network = {nanoseconds(network, "overhead"),
                       nanoseconds(network, "latency"),
                       nanoseconds(network, "gap"),
                       a_byte(network, "byte"),
                       static_cast<size_t>(network.number("prompt", 1e12, true)),
                       network.has("mpi") ? network.text("mpi") : ""};
    if (network.has("mpi") &&
        std::find(mpi_words.begin(), mpi_words.end(), machine.network->mpi) == mpi_words.end())
      network.refuse("there is no MPI " + in_quotes(machine.network->mpi) + "; known are " +
                     one_of(mpi_words));
  }
  if (all.has("messages")) {
    const Part messages = all.at("messages");
    messages.must_be_object({"overhead", "latency", "byte", "shared"});
    machine.messages = {nanoseconds(messages, "overhead"), nanoseconds(messages, "latency"),
                        a_byte(messages, "byte"), a_byte(messages, "shared")};
    if (machine.messages->shared > machine.messages->byte)
      messages.refuse(
          "\"shared\" is more than \"byte\"; one message alone takes \"byte\" a byte, and the "
          "memory that all share cannot be slower");
  }
  return machine;
}

std::string write_machine(const Machine& machine) {
  Json json;
  json["format"] = machine_format;
  json["name"] = machine.name;
  if (!machine.what.empty()) json["what"] = machine.what;
  if (!machine.shape.empty()) json["shape"] = machine.shape;
  json["source"] = machine.source;
  json["levels"] = Json::array();
  for (const LevelCost& level : machine.levels) {
    json["levels"].push_back({{"name", level.name},
                              {"hand_over", level.hand_over},
                              {"byte", json_of(level.byte)},
                              {"add", json_of(level.add)},
                              {"shared", json_of(level.shared)}});
    Json& row = json["levels"].back();
    for (const OptionalCost& one : optional_costs)
      if (level.*one.cost) row[one.name] = json_of(*(level.*one.cost));
    if (level.exchange) row["exchange"] = *level.exchange;
  }
  json["own"] = {{"call", machine.own.call},
                 {"step", machine.own.step},
                 {"copy", json_of(machine.own.copy)},
                 {"combine", json_of(machine.own.combine)}};
  if (machine.own.yield) json["own"]["yield"] = *machine.own.yield;
  if (machine.network)
    json["network"] = {{"overhead", machine.network->overhead},
                       {"latency", machine.network->latency},
                       {"gap", machine.network->gap},
                       {"byte", machine.network->byte},
                       {"prompt", machine.network->prompt}};
  if (machine.network && !machine.network->mpi.empty())
    json["network"]["mpi"] = machine.network->mpi;
  if (machine.messages)
    json["messages"] = {{"overhead", machine.messages->overhead},
                        {"latency", machine.messages->latency},
                        {"byte", machine.messages->byte},
                        {"shared", machine.messages->shared}};
  return json.dump(1) + "\n";
}

}  // namespace tutti::model
