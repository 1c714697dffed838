#include "counts.h"

#include <simgrid/actor.h>
#include <smpi/smpi.h>

#include <algorithm>
#include <vector>

// On the heap, because each rank has its own copy of globals.
struct SimCounts {
  std::vector<long> sent;  // indexed by the number of a rank's SimGrid actor; the first rank's is 1
};

SimCounts* sim_count() {
  auto* const counts = new SimCounts;
  const auto sending = [counts](size_t, simgrid::s4u::Host*, simgrid::s4u::Host*) {
    const auto actor = static_cast<size_t>(sg_actor_self_get_pid());
    if (counts->sent.size() <= actor) counts->sent.resize(actor + 1, 0);
    ++counts->sent[actor];
    return 0.0;
  };
  smpi_register_op_cost_callback(SmpiOperation::SEND, sending);
  smpi_register_op_cost_callback(SmpiOperation::ISEND, sending);
  return counts;
}

void sim_sent(const SimCounts* counts, size_t ranks, long* sent) {
  for (size_t rank = 0; rank < ranks; ++rank)
    sent[rank] = rank + 1 < counts->sent.size() ? counts->sent[rank + 1] : 0;
}
