// The policy: which transfers a client executes itself, which it hands to servers, and how many
// consecutive ones to the same server. Pure functions of plain values; any thread.
//
// Source: "Exploiting Communication Concurrency": round robin, batches of 1 to 10, active clients
// (section 4.1); for each size a threshold on the number of messages, batches that grow with the
// size (section 5). rma/saturation.h makes a policy from measurements.
#pragma once

#include <algorithm>
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

inline constexpr uint32_t most_batch = 10;

// For transfers of at most so many bytes, of which at least so many are waiting.
struct Rule {
  size_t most_bytes = SIZE_MAX;
  uint32_t least_waiting = 0;
  uint32_t batch = 1;               // consecutive transfers for the same server
  bool client_takes_turns = false;  // active client: as if it were one more server
};

struct Policy {
  Serve serve = Serve::selective;
  // A client's transfers that servers may have at once. It executes further ones itself.
  size_t most_in_flight = SIZE_MAX;
  // In ascending order of most_bytes, and within one size in descending order of least_waiting.
  // Only the rules of the first size that is large enough count, and of these the first whose
  // least_waiting is reached. Without such a rule a transfer is the client's own.
  std::vector<Rule> puts{};
  std::vector<Rule> gets{};

  const std::vector<Rule>& rules(Kind kind) const { return is_put(kind) ? puts : gets; }
};

// The facts that a client knows when it starts a transfer.
struct Situation {
  Kind kind = Kind::put;
  size_t bytes = 0;
  size_t waiting = 1;    // transfers that it starts together with this one, this one included
  size_t in_flight = 0;  // its transfers that servers have and have not completed
};

// The rule that counts; null if there is none.
const Rule* rule_of(const Policy& policy, const Situation& now);

// True if servers get the transfer.
bool is_for_servers(const Policy& policy, const Situation& now);

// The least bytes of a transfer that a rule gives to servers, however many are waiting; SIZE_MAX if
// none does.
size_t least_bytes_served(const Policy& policy);

// The turn among the servers, and the client itself if it takes turns.
struct Turn {
  int32_t server = -1;      // the number of servers: the client
  uint32_t batch_left = 0;  // further transfers that go there
};

// The turn of a transfer for servers, after that of the one before it. `servers` is at least 1.
Turn next_turn(const Policy& policy, const Turn& last, int32_t servers, const Situation& now);
// The same by the rule that counts.
Turn next_turn(const Rule& rule, const Turn& last, int32_t servers);

// How many transfers a client starts together. A phase begins with the first start after a
// completion; a client is expected to start as many in a phase as in the one before.
class Phases {
 public:
  // A transfer starts. Returns how many are waiting (Situation::waiting).
  size_t start() { return std::max(before_, ++started_); }
  // The client learns of a completion, or asks for one.
  void complete() {
    if (started_ == 0) return;
    before_ = started_;
    started_ = 0;
  }

 private:
  size_t before_ = 0;
  size_t started_ = 0;
};

}  // namespace tutti::rma
