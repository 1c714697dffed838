// The policy: which transfers a client executes itself, which it hands to servers, and how many
// consecutive ones to the same server. Pure functions of plain values; any thread.
//
// Source: "Exploiting Communication Concurrency": round robin, batches of 1 to 10, active clients
// (section 4.1); for each size a threshold on the number of messages, batches that grow with the
// size (section 5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rma/transfer.h"

namespace tutti::rma {

enum class Serve : uint8_t {
  all,        // servers execute every transfer
  selective,  // those for which a rule says that it gains
  none,       // clients execute all
};

// For transfers of at most so many bytes.
struct Rule {
  size_t most_bytes = SIZE_MAX;
  uint32_t least_outstanding = 0;  // servers get it if so many of the client's are outstanding
  uint32_t batch = 1;              // consecutive transfers for the same server
};

struct Policy {
  Serve serve = Serve::selective;
  bool clients_are_active = false;  // the client takes a turn, as if it were one more server
  // In ascending order of most_bytes. Longer transfers than the last rule's are the client's own.
  std::vector<Rule> puts{};
  std::vector<Rule> gets{};

  const std::vector<Rule>& rules(Kind kind) const { return kind == Kind::put ? puts : gets; }
};

// True if servers get the transfer. `outstanding`: transfers of the client that servers have and
// have not completed.
bool is_for_servers(const Policy& policy, Kind kind, size_t bytes, size_t outstanding);

// Whose turn it is among the servers, and the client itself if it is active.
struct Turn {
  int32_t server = -1;      // the number of servers: the client
  uint32_t batch_left = 0;  // further transfers that go there
};

// The turn of a transfer for servers, after that of the one before it. `servers` is at least 1.
Turn next_turn(const Policy& policy, const Turn& last, int32_t servers, Kind kind, size_t bytes);

}  // namespace tutti::rma
