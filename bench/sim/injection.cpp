// tutti-injection: simulates how clients inject one-sided messages, by themselves or through
// servers (src/model/injection). `tutti sim --servers` starts it.
//
// Usage: tutti-injection < REQUEST
//
// REQUEST is JSON: {"file": NAME, "machine": {...}, "map": true, "settings": [...]}. A setting has
// nodes, clients, servers, kind (put or get), bytes, messages, all_to_all, most_outstanding and
// policy: "own", "adaptive" (from the map of the machine), or a rule, {"batch": 4,
// "client_takes_turns": true}, by which servers get all messages.
//
// Writes rows (rows.h): those of the map, if it was asked for (saturation_map.h), and one for each
// setting; of an adaptive one with the rule that it follows, if there is one.
#include <exception>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "model/injection/simulate.h"
#include "rows.h"
#include "saturation_map.h"

namespace {

using namespace tutti;
using injection::Machine;
using injection::Setting;
using rma::Kind;

Setting setting_of(const Json& json) {
  return {.nodes = json.at("nodes"),
          .clients = json.at("clients"),
          .servers = json.at("servers"),
          .kind = json.at("kind") == "put" ? Kind::put : Kind::get,
          .bytes = json.at("bytes"),
          .messages = json.at("messages"),
          .all_to_all = json.at("all_to_all"),
          .most_outstanding = json.at("most_outstanding")};
}

rma::Policy policy_of(const Json& word, const rma::SaturationMap& map, const Setting& setting) {
  if (word == "own") return {.serve = rma::Serve::none};
  if (word == "adaptive")
    return rma::policy_of(map, {.domains = setting.clients, .servers = setting.servers});
  const rma::Rule rule{.batch = word.at("batch"),
                       .client_takes_turns = word.at("client_takes_turns")};
  return {.serve = rma::Serve::all, .puts = {rule}, .gets = {rule}};
}

void add_rule(const Setting& setting) {
  const size_t waiting = std::min<size_t>(setting.messages, setting.most_outstanding);
  const rma::Rule* const rule =
      rule_of(setting.policy, {.kind = setting.kind, .bytes = setting.bytes, .waiting = waiting});
  if (rule == nullptr) return;
  row_integer("least_waiting", static_cast<int64_t>(rule->least_waiting));
  row_integer("batch", static_cast<int64_t>(rule->batch));
  row_flag("client_takes_turns", rule->client_takes_turns);
}

void add_result(const Machine& machine, const Json& one, const rma::SaturationMap& map) {
  Setting setting = setting_of(one);
  if (setting.servers > 0) setting.policy = policy_of(one.at("policy"), map, setting);
  const injection::Outcome outcome = simulate(machine, setting);
  row_begin_call("injection", setting.kind == Kind::put ? "put" : "get", setting.bytes);
  row_number("ns", outcome.nanoseconds);
  row_number("gigabytes", outcome.bandwidth);
  row_integer("messages", static_cast<int64_t>(outcome.messages));
  row_integer("handed", static_cast<int64_t>(outcome.handed));
  if (one.at("policy") == "adaptive") add_rule(setting);
  row_end();
}

}  // namespace

int main() {
  try {
    const std::string text((std::istreambuf_iterator<char>(std::cin)),
                           std::istreambuf_iterator<char>());
    const Json request = Json::parse(text);
    const std::string file = request.at("file");
    const Machine machine = injection::read_machine(request.at("machine"), file);
    const Json& settings = request.at("settings");
    bool needs_map = request.at("map");
    for (const Json& one : settings) needs_map = needs_map || one.at("policy") == "adaptive";
    rma::SaturationMap map;
    if (needs_map) map = injection::saturation_of(machine);
    if (request.at("map")) bench::add_rows(map);
    for (const Json& one : settings) add_result(machine, one, map);
    rows_write();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-injection: %s\n", error.what());
    return 2;
  }
}
