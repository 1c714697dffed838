// A cluster as injection sees it: what a message costs the core that starts it, that core's queue
// at the adapter, and the adapter. Read from a file that people can write (docs/injection.md).
//
// All times are in nanoseconds, and all costs of bytes are in nanoseconds a byte. Values, constant
// once made; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "rma/transfer.h"

namespace tutti::injection {

// How messages of at most so many bytes travel.
struct Protocol {
  std::string name;
  size_t most_bytes = 0;
  // The core that starts the message is busy.
  double overhead = 0;
  double overhead_byte = 0;
  double completion = 0;  // and again when it learns of the message's completion
  int32_t in_flight = 1;  // messages of one core that travel at once; its others wait in its queue
  // The adapter of the node that has the data sends one message after another, and the adapter that
  // gets them receives one after another.
  double gap = 0;
  double byte = 0;
  double crowding = 0;  // grows `byte` by this part for each further core with messages in flight
  double latency = 0;   // from adapter to adapter, one way
};

// The costs of a served message beside the message itself, for at most `most_bytes`: copies through
// registered memory, or its registration.
struct Served {
  size_t most_bytes = 0;
  double overhead = 0;
  double overhead_byte = 0;
};

// To hand a message to a server and to get its completion back.
struct HandOver {
  double post = 0;     // time of the client's core
  double take = 0;     // time of the server's core
  double retire = 0;   // time of the server's core, when the message is complete
  double check = 0;    // time of the client's core, when it learns of it
  double latency = 0;  // from the post to the server's sight of it, and from retire to the client's
};

struct Machine {
  std::string name, what, source;
  int32_t cores = 1;                 // the cores of a node
  int32_t domains = 1;               // NUMA regions of a node
  std::vector<Protocol> puts, gets;  // in ascending order of most_bytes
  HandOver hand_over;
  std::vector<Served> served;  // in ascending order of most_bytes
};

// Throws Error(invalid_argument), one line with `file` and the place in it.
Machine read_machine(const Json& json, std::string_view file);

// The protocol of a message. Throws Error(invalid_argument) if it is longer than all.
const Protocol& protocol_of(const Machine& machine, rma::Kind kind, size_t bytes);
// Returns the costs that a server adds; nothing for messages that are longer than the machine's
// entries.
Served served_cost(const Machine& machine, size_t bytes);

}  // namespace tutti::injection
