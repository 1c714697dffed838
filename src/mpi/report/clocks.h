// The comparison of the clocks of a job's nodes, by which the ticks in a trace become times of one
// clock.
//
// All ranks of a node read one clock. Rank 0 of the job asks the leader of every other node for its
// ticks, by round trips over a private communicator, when the trace starts and again when it ends.
// A line through the two answers gives the node's offset and its rate. An answer is the best of
// several tries, and half of its round trip bounds the error. Each rank has one Clocks, from
// MPI_Init on; all ranks use theirs together, inside MPI_Init and MPI_Finalize.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/host/host.h"
#include "mpi/report/messages.h"
#include "trace/header.h"
#include "trace/ticks.h"

namespace tutti::mpi {

// The ticks of a node's leader at one moment, and those of rank 0 at the same moment, which are
// known to within `error` ticks.
struct Reading {
  uint64_t node_ticks = 0;
  uint64_t ticks = 0;
  uint64_t error = 0;
};

class Clocks {
 public:
  // Collective over `communicator`, which is private and has the ranks of MPI_COMM_WORLD.
  explicit Clocks(Comm communicator);

  // Collective. Reads the clocks of all nodes. The first call is the origin of the nanoseconds.
  // Throws what messages throw.
  void read(Messages& messages);

  // The world ranks of the nodes' leaders, in ascending order, and each rank's node as an index
  // into them.
  const std::vector<int>& leaders() const { return leaders_; }
  int node_of(int rank) const { return node_of_[static_cast<size_t>(rank)]; }

  // A node's first reading (0) or second one (1). At rank 0, after two calls of read().
  trace::Anchor anchor(int node, int reading) const;

 private:
  void find_nodes(Comm communicator);

  int rank_ = 0;
  int ranks_ = 0;
  std::vector<int> leaders_;
  std::vector<int> node_of_;
  std::vector<trace::Moment> moments_;          // moments of rank 0, one for each call of read()
  std::vector<std::vector<Reading>> readings_;  // at rank 0: by call, then by node
};

}  // namespace tutti::mpi
