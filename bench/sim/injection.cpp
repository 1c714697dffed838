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
// Writes JSON to stdout: the map, if it was asked for (in the format of `tutti bench
// --saturation`), and a result for each setting; an adaptive one with the rule that it follows.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "model/injection/simulate.h"
#include "saturation_json.h"

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

Json results_of(const Machine& machine, const Json& settings, const rma::SaturationMap& map) {
  Json results = Json::array();
  for (const Json& one : settings) {
    Setting setting = setting_of(one);
    if (setting.servers > 0) setting.policy = policy_of(one.at("policy"), map, setting);
    const injection::Outcome outcome = simulate(machine, setting);
    results.push_back({{"us", rounded(outcome.nanoseconds / 1000, 4)},
                       {"gigabytes", rounded(outcome.bandwidth, 6)},
                       {"messages", outcome.messages},
                       {"handed", outcome.handed}});
    if (one.at("policy") != "adaptive") continue;
    const size_t waiting = std::min<size_t>(setting.messages, setting.most_outstanding);
    const rma::Rule* const rule =
        rule_of(setting.policy, {.kind = setting.kind, .bytes = setting.bytes, .waiting = waiting});
    results.back()["rule"] = nullptr;
    if (rule != nullptr)
      results.back()["rule"] = {{"least_waiting", rule->least_waiting},
                                {"batch", rule->batch},
                                {"client_takes_turns", rule->client_takes_turns}};
  }
  return results;
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
    Json json;
    if (request.at("map")) json["map"] = bench::json_of(map);
    json["results"] = results_of(machine, settings, map);
    std::puts(json_text(json).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-injection: %s\n", error.what());
    return 2;
  }
}
