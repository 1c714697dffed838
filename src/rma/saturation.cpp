#include "rma/saturation.h"

#include <algorithm>
#include <limits>

namespace tutti::rma {
namespace {

// A position between two numbers of a list: that many parts of the way from `from` to `from` + 1.
struct Between {
  size_t from = 0;
  double part = 0;
  double beyond = 1;  // the number divided by the list's last one, if it is larger
};

Between find(const std::vector<size_t>& numbers, double number) {
  const auto last = static_cast<double>(numbers.back());
  if (number >= last) return {numbers.size() - 1, 0, number / last};
  if (number <= static_cast<double>(numbers.front())) return {};
  const auto after =
      std::upper_bound(numbers.begin(), numbers.end(), number,
                       [](double a, size_t b) { return a < static_cast<double>(b); });
  const auto from = static_cast<size_t>(after - numbers.begin()) - 1;
  const auto low = static_cast<double>(numbers[from]),
             high = static_cast<double>(numbers[from + 1]);
  return {from, (number - low) / (high - low)};
}

double time_at(const SaturationMap& map, Kind kind, size_t cores, size_t messages, size_t bytes) {
  return static_cast<double>(map.cores[cores] * map.messages[messages] * map.bytes[bytes]) /
         map.bandwidth(kind, cores, messages, bytes);
}

// `at` gives the value at a place of the list.
template <class At>
double interpolated(const Between& place, At at) {
  const double low = at(place.from);
  return place.part == 0 ? low : low + place.part * (at(place.from + 1) - low);
}

// A client's transfers that one server gets, or the client itself.
struct Share {
  size_t count = 0;
  size_t first = 0;  // the place of the first one among all
};

// The share of each server, and last that of the client itself.
std::vector<Share> shares(const Crew& crew, size_t messages, const Rule& rule) {
  const Rule always{.batch = rule.batch, .client_takes_turns = rule.client_takes_turns};
  const Policy policy{.serve = Serve::all, .puts = {always}};
  std::vector<Share> all(static_cast<size_t>(crew.servers) + 1);
  Turn turn;
  for (size_t i = 0; i < messages; ++i) {
    turn = next_turn(policy, turn, crew.servers, {});
    Share& share = all[static_cast<size_t>(turn.server)];
    if (share.count++ == 0) share.first = i;
  }
  return all;
}

struct Best {
  Rule rule;
  double time = std::numeric_limits<double>::infinity();
};

// Prefers `usual` where nothing is better by more than 2%, so that a policy has few rules.
Best best_of(const SaturationMap& map, const Crew& crew, Kind kind, size_t messages, size_t bytes,
             const Rule* usual) {
  Best best;
  for (const bool takes_turns : {false, true}) {
    if (takes_turns && !crew.clients_may_take_turns) continue;
    for (uint32_t batch = 1; batch <= most_batch; ++batch) {
      const Rule rule{.batch = batch, .client_takes_turns = takes_turns};
      const double time = served_time(map, crew, kind, messages, bytes, rule);
      if (time < best.time) best = {rule, time};
    }
  }
  if (usual == nullptr) return best;
  const double time = served_time(map, crew, kind, messages, bytes, *usual);
  return time <= 1.02 * best.time ? Best{*usual, time} : best;
}

// Numbers of messages at which a policy may change: all small ones, and then some.
std::vector<size_t> message_counts(const SaturationMap& map) {
  std::vector<size_t> counts;
  const size_t most = map.messages.back();
  for (size_t count = 1; count < most; count += std::max<size_t>(1, count / 8))
    counts.push_back(count);
  counts.push_back(most);
  return counts;
}

// The rules of one size, from many messages to few.
void add_rules(const SaturationMap& map, const Crew& crew, Kind kind, size_t bytes,
               std::vector<Rule>* rules) {
  const size_t first = rules->size();
  const std::vector<size_t> counts = message_counts(map);
  for (auto count = counts.rbegin(); count != counts.rend(); ++count) {
    const Rule* const usual = rules->size() > first ? &rules->back() : nullptr;
    const Best best = best_of(map, crew, kind, *count, bytes, usual);
    if (best.time * least_gain > own_time(map, crew, kind, *count, bytes)) break;
    if (usual != nullptr && best.rule.batch == usual->batch &&
        best.rule.client_takes_turns == usual->client_takes_turns) {
      rules->back().least_waiting = static_cast<uint32_t>(*count);
      continue;
    }
    rules->push_back(best.rule);
    rules->back().most_bytes = bytes;
    rules->back().least_waiting = static_cast<uint32_t>(*count);
  }
  // A size without a rule needs one that no transfer reaches, or the next size's rules would count.
  if (rules->size() == first) rules->push_back({.most_bytes = bytes, .least_waiting = UINT32_MAX});
}

}  // namespace

double SaturationMap::peak(Kind kind, size_t bytes_at) const {
  double most = 0;
  for (size_t c = 0; c < cores.size(); ++c)
    for (size_t m = 0; m < messages.size(); ++m)
      most = std::max(most, bandwidth(kind, c, m, bytes_at));
  return most;
}

double transfer_time(const SaturationMap& map, Kind kind, double cores, double messages,
                     double bytes) {
  const Between c = find(map.cores, cores), m = find(map.messages, messages),
                b = find(map.bytes, bytes);
  const double time = interpolated(c, [&](size_t core) {
    return interpolated(m, [&](size_t message) {
      return interpolated(b, [&](size_t byte) { return time_at(map, kind, core, message, byte); });
    });
  });
  return time * c.beyond * m.beyond * b.beyond;
}

double own_time(const SaturationMap& map, const Crew& crew, Kind kind, size_t messages,
                size_t bytes) {
  return transfer_time(map, kind, crew.domains * crew.clients, static_cast<double>(messages),
                       static_cast<double>(bytes));
}

double served_time(const SaturationMap& map, const Crew& crew, Kind kind, size_t messages,
                   size_t bytes, const Rule& rule) {
  const std::vector<Share> all = shares(crew, messages, rule);
  const size_t own = all.back().count, handed = messages - own;
  const auto working = static_cast<int32_t>(
      std::count_if(all.begin(), all.end() - 1, [](const Share& one) { return one.count > 0; }));
  const double cores = crew.domains * (working + (own > 0 ? crew.clients : 0));
  const auto size = static_cast<double>(bytes);
  const HandOver& cost = map.hand_over;
  // The time ends with the last of three: the client, the last server, each as if it had the node
  // to itself, and what all cores take together.
  double client = static_cast<double>(handed) * cost.client;
  if (own > 0) client += transfer_time(map, kind, 1, static_cast<double>(own), size);
  const double each = crew.domains * crew.clients * static_cast<double>(messages) / cores;
  const double together =
      transfer_time(map, kind, cores, each, size) + (handed > 0 ? cost.latency : 0);
  const double of_server =
      interpolated(find(map.bytes, size), [&](size_t byte) { return cost.server[byte]; });
  double last = 0;
  for (size_t server = 0; server + 1 < all.size(); ++server) {
    if (all[server].count == 0) continue;
    const auto count = static_cast<double>(crew.clients) * static_cast<double>(all[server].count);
    // Half of the client's cost is the post; a server begins after the posts to those before it.
    const double begin = static_cast<double>(all[server].first) * cost.client / 2 + cost.latency;
    last = std::max(last, begin + transfer_time(map, kind, 1, count, size) + count * of_server);
  }
  return std::max({client, together, handed > 0 ? last + cost.client : 0});
}

Policy policy_of(const SaturationMap& map, const Crew& crew) {
  Policy policy{.most_in_flight = map.messages.back() * static_cast<size_t>(crew.servers)};
  for (const size_t bytes : map.bytes) {
    add_rules(map, crew, Kind::put, bytes, &policy.puts);
    add_rules(map, crew, Kind::get, bytes, &policy.gets);
  }
  return policy;
}

Policy policy_between_nodes(const SaturationMap& map, size_t clients, size_t servers) {
  const auto distance = [&](const SaturationMap::Served& one) {
    return std::max(one.servers, servers) - std::min(one.servers, servers);
  };
  const auto nearest = std::min_element(
      map.served.begin(), map.served.end(),
      [&](const auto& one, const auto& other) { return distance(one) < distance(other); });
  Policy policy;
  size_t cores = 0;  // the index of the largest number of cores that is at most `clients`
  while (cores + 1 < map.cores.size() && map.cores[cores + 1] <= clients) ++cores;
  const size_t counts = map.messages.size(), sizes = map.bytes.size();
  for (const Kind kind : {Kind::put, Kind::get}) {
    const bool puts = kind == Kind::put;
    std::vector<Rule>& rules = puts ? policy.puts : policy.gets;
    const std::vector<double>& served = puts ? nearest->puts : nearest->gets;
    for (size_t size = 0; size < sizes; ++size) {
      const auto gains = [&](size_t count) {
        return served[(cores * counts + count) * sizes + size] >=
               least_gain * map.bandwidth(kind, cores, count, size);
      };
      size_t first = counts;  // from this number of messages on
      while (first > 0 && gains(first - 1)) --first;
      const size_t least = first == counts ? UINT32_MAX : map.messages[first];
      rules.push_back(
          {.most_bytes = map.bytes[size], .least_waiting = static_cast<uint32_t>(least)});
    }
  }
  return policy;
}

size_t bytes_under_way(const SaturationMap& map, size_t piece) {
  double most = 0;
  for (const Kind kind : {Kind::put, Kind::get}) {
    double rate = 0;  // bytes in a ns
    for (size_t m = 0; m < map.messages.size(); ++m)
      for (size_t b = 0; b < map.bytes.size(); ++b)
        rate = std::max(rate, map.bandwidth(kind, 0, m, b));
    most =
        std::max(most, rate / static_cast<double>(map.cores.front()) * time_at(map, kind, 0, 0, 0));
  }
  return (2 + static_cast<size_t>(most / static_cast<double>(piece) + 0.5)) * piece;
}

}  // namespace tutti::rma
