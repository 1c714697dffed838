#include "saturation_json.h"

namespace tutti::bench {
namespace {

Json grid(const rma::SaturationMap& map, rma::Kind kind) {
  Json all = Json::array();
  for (size_t c = 0; c < map.cores.size(); ++c) {
    Json by_messages = Json::array();
    for (size_t m = 0; m < map.messages.size(); ++m) {
      Json by_bytes = Json::array();
      for (size_t b = 0; b < map.bytes.size(); ++b)
        by_bytes.push_back(rounded(map.bandwidth(kind, c, m, b), 6));
      by_messages.push_back(std::move(by_bytes));
    }
    all.push_back(std::move(by_messages));
  }
  return all;
}

}  // namespace

Json json_of(const rma::SaturationMap& map) {
  Json json;
  json["format"] = "tutti-saturation 1";
  json["where"] = map.where;
  const bool of_node = map.scope == rma::Scope::node;
  json["scope"] = of_node ? "node" : "between nodes";
  json["cores"] = map.cores;
  json["messages"] = map.messages;
  json["bytes"] = map.bytes;
  json["puts"] = grid(map, rma::Kind::put);
  json["gets"] = grid(map, rma::Kind::get);
  if (!of_node) return json;
  json["hand_over"] = {{"client", map.hand_over.client},
                       {"server", map.hand_over.server},
                       {"latency", map.hand_over.latency}};
  return json;
}

}  // namespace tutti::bench
