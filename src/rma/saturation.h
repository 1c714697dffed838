// A saturation map: how fast a node transfers data, by the number of cores that do it at once, the
// messages that each of them starts before it waits, and the bytes of a message; and what follows
// from it. A map is of the memory of one node, from which follows the policy, or of the network
// between two nodes, from which follows how many bytes are under way.
//
// `tutti bench saturation` measures a map, and `tutti sim --servers` computes the map of a
// simulated node (docs/injection.md has the file's format). Plain values and pure functions; any
// thread.
//
// Source: "Exploiting Communication Concurrency": the map is the microbenchmark of section 4, and
// the policy is the control model of section 5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rma/policy.h"
#include "rma/transfer.h"

namespace tutti::rma {

// The costs of handing a transfer to a server, in nanoseconds.
struct HandOver {
  double client = 0;  // time of the client's core: to post it, and to learn of its completion
  std::vector<double>
      server;  // time of the server's core, beside the transfer itself, indexed as the map's bytes
  double latency = 0;  // from the post to the start of the transfer, and back: both ways
};

enum class Scope : uint8_t {
  node,           // transfers within a node
  between_nodes,  // with another node; `cores` are ranks of one node
};

struct SaturationMap {
  // Each in ascending order, from 1 on.
  std::vector<size_t> cores, messages, bytes;
  // GB/s of all cores together, by cores, then messages, then bytes; positive.
  std::vector<double> puts, gets;
  HandOver hand_over;  // costs on a node; nothing between nodes, where clients start all themselves
  // Between nodes, the same bandwidths if so many servers of each node exchange all transfers; one
  // entry for each number of servers that was measured.
  struct Served {
    size_t servers = 0;
    std::vector<double> puts, gets;
  };
  std::vector<Served> served;
  std::string where;  // the name of the machine, for people
  Scope scope = Scope::node;

  double bandwidth(Kind kind, size_t cores_at, size_t messages_at, size_t bytes_at) const {
    const std::vector<double>& all = is_put(kind) ? puts : gets;
    return all[(cores_at * messages.size() + messages_at) * bytes.size() + bytes_at];
  }
  // The largest bandwidth at this size, over all numbers of cores and messages.
  double peak(Kind kind, size_t bytes_at) const;
};

// The map of a text. Throws Error(invalid_argument), one line with `file` and the place in it.
SaturationMap read_saturation(std::string_view text, std::string_view file);
// The map in a file. Throws as read_saturation, and Error(unavailable) if it cannot be read.
SaturationMap load_saturation(const std::string& file);
// The same of a map that must have been measured on this machine; throws
// Error(invalid_argument) if it was not.
SaturationMap load_saturation_of_here(const std::string& file);
// This machine as maps name it in `where`: its processor, and the number of its processing units,
// whichever of them this process may use.
std::string this_machine();

// The time in ns in which `cores` cores transfer `messages` messages each, at least 1. Between the
// numbers of the map the time changes linearly. Beyond the largest, time grows with the messages
// and the bytes, and cores share the bandwidth of the largest number of cores.
double transfer_time(const SaturationMap& map, Kind kind, double cores, double messages,
                     double bytes);

// Clients that start the same numbers of transfers at the same time, and servers that they share.
struct Crew {
  int32_t domains = 1;  // the domains of the node, with the following in each
  int32_t clients = 1;
  int32_t servers = 1;
  bool clients_may_take_turns = true;
};

// The time in ns in which each client's `messages` transfers are completed, if it hands them over
// by the rule (its batch and its turns).
double served_time(const SaturationMap& map, const Crew& crew, Kind kind, size_t messages,
                   size_t bytes, const Rule& rule);
// The same if clients execute all themselves.
double own_time(const SaturationMap& map, const Crew& crew, Kind kind, size_t messages,
                size_t bytes);

// A transfer is handed over only if the map says that this saves so much of the time.
inline constexpr double least_gain = 1.05;

// The selective policy for a crew: for each size of the map the thresholds on the number of
// messages from which servers gain, with the best batches. Longer messages than the map's stay with
// the client, and so do those beyond as many for each server as were measured of a core. The map is
// of a node.
Policy policy_of(const SaturationMap& map, const Crew& crew);

// The selective policy for transfers with other nodes, by a map between nodes that servers were
// measured for, where so many clients of a node start transfers at once and so many servers
// exchange them: for each size of the map, the least number of messages from which on servers gain.
// The nearest number of servers that was measured counts. Servers take turns after each message.
Policy policy_between_nodes(const SaturationMap& map, size_t clients, size_t servers);

// The bytes that keep the way from one rank to one of another node full, by a map between nodes:
// what the way takes in the time in which a reply to the shortest message comes, and two pieces of
// `piece` bytes, of which the one is being sent while the other one is being answered. One rank may
// have the network to itself, so the map's smallest number of cores counts. It is a multiple of
// `piece`, and at least two of them.
size_t bytes_under_way(const SaturationMap& map, size_t piece);

}  // namespace tutti::rma
