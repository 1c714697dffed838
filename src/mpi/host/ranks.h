// A rank's place in a communicator, and values that its ranks tell each other by the host's
// blocking collectives. No state; one thread at a time for each communicator.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/host/host.h"

namespace tutti::mpi {

inline int rank_in(Comm communicator) {
  int rank = 0;
  host().Comm_rank(communicator, &rank);
  return rank;
}
inline int ranks_in(Comm communicator) {
  int ranks = 0;
  host().Comm_size(communicator, &ranks);
  return ranks;
}

// Collective: true if `own` is true at all ranks; false if the host fails.
inline bool all_say(bool own, Comm communicator) {
  const Host& mpi = host();
  const uint64_t here = own ? 1 : 0;
  uint64_t least = 0;
  return mpi.Allreduce(&here, &least, 1, mpi.type_uint64, mpi.op_min, communicator) == success &&
         least == 1;
}

// Collective: the values of all ranks, by rank.
template <class Value>
std::vector<Value> gather(const Value& own, int ranks, Comm communicator) {
  const Host& mpi = host();
  std::vector<Value> all(static_cast<size_t>(ranks));
  mpi.Allgather(&own, sizeof own, mpi.type_byte, all.data(), sizeof own, mpi.type_byte,
                communicator);
  return all;
}

}  // namespace tutti::mpi
