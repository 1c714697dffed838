// Simulates one-sided messages that clients inject, or hand to servers, on the nodes of a machine:
// by discrete events, in virtual time.
//
// A core does one thing at a time: it starts a message, hands one over, takes one, or learns of a
// completion. A started message waits in its core's queue until fewer than Protocol::in_flight of
// that core travel. Then a put goes to its node's adapter, and a get asks the adapter of the node
// that has the data. Adapters send, and receive, one message after another, each in both directions
// at once. A put is complete when its acknowledgement is back, a get when its data is there.
//
// The same call gives the same result to the last digit. Each call is by itself; any thread.
#pragma once

#include <cstdint>

#include "model/injection/machine.h"
#include "rma/policy.h"
#include "rma/saturation.h"

namespace tutti::injection {

struct Setting {
  int32_t nodes = 2;
  int32_t clients = 1;  // the clients of a node
  int32_t servers = 0;  // the servers of each client
  rma::Kind kind = rma::Kind::put;
  size_t bytes = 8;
  // Messages that a client starts before it waits. They go to the next node; in an all-to-all, one
  // goes to each client of each other node, beginning with the next node.
  int32_t messages = 1;
  bool all_to_all = false;
  // The most messages of a client; it waits for a completion before it starts more.
  int32_t most_outstanding = 128;
  rma::Policy policy{};  // used if there are servers
};

struct Outcome {
  double nanoseconds = 0;  // until the last client knows that its last message is complete
  double bandwidth = 0;    // GB/s that a node sends, as many as it receives
  uint64_t messages = 0;   // the messages of all clients
  uint64_t handed = 0;     // those of them that went to servers
};

// Throws Error(invalid_argument) if the setting has more clients and servers than the node has
// cores, or no messages, or fewer than two nodes.
Outcome simulate(const Machine& machine, const Setting& setting);

// The map of a node of the machine: numbers of cores from 1 to all, 1 to 128 messages, and 8 bytes
// to 1 MiB.
rma::SaturationMap saturation_of(const Machine& machine);

}  // namespace tutti::injection
