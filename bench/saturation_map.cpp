#include "saturation_map.h"

#include "rows.h"

namespace tutti::bench {
namespace {

std::vector<size_t> powers(size_t first, size_t last) {
  std::vector<size_t> numbers;
  for (size_t number = first; number <= last; number *= 2) numbers.push_back(number);
  return numbers;
}

// Calls `body` for all combinations of a kind, in the order of the map's values.
template <class Body>
void for_each_combination(const rma::SaturationMap& map, rma::Kind kind, const Body& body) {
  for (const size_t cores : map.cores)
    for (const size_t messages : map.messages)
      for (const size_t bytes : map.bytes) body(Combination{kind, cores, messages, bytes});
}

double bytes_of(const Combination& one) {
  return static_cast<double>(one.cores * one.messages * one.bytes);
}

// The rows of one kind, a row for each combination.
void add_bandwidths(const rma::SaturationMap& map, const char* row, const std::vector<double>& puts,
                    const std::vector<double>& gets, size_t servers) {
  for (const rma::Kind kind : {rma::Kind::put, rma::Kind::get}) {
    const std::vector<double>& bandwidths = kind == rma::Kind::put ? puts : gets;
    size_t at = 0;
    for_each_combination(map, kind, [&](const Combination& one) {
      row_begin_call(row, kind == rma::Kind::put ? "put" : "get", one.bytes);
      row_integer("cores", static_cast<int64_t>(one.cores));
      row_integer("messages", static_cast<int64_t>(one.messages));
      if (servers > 0) row_integer("servers", static_cast<int64_t>(servers));
      row_number("ns", bytes_of(one) / bandwidths[at++]);
      row_end();
    });
  }
}

void add_hand_over(const rma::SaturationMap& map) {
  row_begin_call("hand_over", "client", 0);
  row_number("ns", map.hand_over.client);
  row_end();
  row_begin_call("hand_over", "latency", 0);
  row_number("ns", map.hand_over.latency);
  row_end();
  for (size_t i = 0; i < map.bytes.size(); ++i) {
    row_begin_call("hand_over", "server", map.bytes[i]);
    row_number("ns", map.hand_over.server[i]);
    row_end();
  }
}

}  // namespace

rma::SaturationMap empty_map(size_t cores, size_t messages, size_t first_bytes, size_t last_bytes,
                             rma::Scope scope) {
  rma::SaturationMap map;
  map.where = rma::this_machine();
  map.scope = scope;
  map.cores = powers(1, cores);
  if (map.cores.back() != cores) map.cores.push_back(cores);
  map.messages = powers(1, messages);
  map.bytes = powers(first_bytes, last_bytes);
  return map;
}

void fill_map(rma::SaturationMap& map, const std::function<double(const Combination&)>& time) {
  for (const rma::Kind kind : {rma::Kind::put, rma::Kind::get})
    for_each_combination(map, kind, [&](const Combination& one) {
      (kind == rma::Kind::put ? map.puts : map.gets)
          .push_back(std::max(1e-6, bytes_of(one) / std::max(1.0, time(one))));
    });
}

void add_rows(const rma::SaturationMap& map) {
  const bool of_node = map.scope == rma::Scope::node;
  row_begin("map");
  row_text("where", map.where.c_str());
  row_text("scope", of_node ? "node" : "between nodes");
  row_end();
  add_bandwidths(map, "saturation", map.puts, map.gets, 0);
  for (const rma::SaturationMap::Served& served : map.served)
    add_bandwidths(map, "served", served.puts, served.gets, served.servers);
  if (of_node) add_hand_over(map);
}

}  // namespace tutti::bench
