// The clocks of a job's nodes, set beside each other: what turns the ticks in a trace into one
// time.
//
// Ranks of a node read one clock. Rank 0 of the job asks the leader of every other node for its
// ticks, by round trips over a private communicator, when the trace starts and again when it ends;
// a line through the two answers gives the node's offset and its rate. The best of some tries
// counts, and half of its round trip bounds the error. Used inside MPI_Init and MPI_Finalize only,
// by all ranks together.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/abi/host.h"
#include "trace/header.h"
#include "trace/ticks.h"

namespace tutti::mpi {

// At one moment: the ticks of a node's leader, and those of rank 0, known to within `error`.
struct Reading {
  uint64_t node_ticks = 0;
  uint64_t ticks = 0;
  uint64_t error = 0;
};

class Clocks {
 public:
  // Collective over `communicator`, which is private, has the ranks of MPI_COMM_WORLD and outlives
  // this.
  explicit Clocks(MPI_Comm communicator);

  // Collective. Nanoseconds are counted from the first call's moment.
  void read();

  // The world ranks of the nodes' leaders, ascending, and each rank's node as a place in them.
  const std::vector<int>& leaders() const { return leaders_; }
  int node_of(int rank) const { return node_of_[static_cast<size_t>(rank)]; }

  // At rank 0 after two calls of read(): for a node's first or second reading.
  trace::Anchor anchor(int node, int reading) const;

 private:
  void find_nodes();
  Reading ask(int leader) const;
  void answer() const;

  MPI_Comm communicator_;
  int rank_ = 0;
  int ranks_ = 0;
  std::vector<int> leaders_;
  std::vector<int> node_of_;
  std::vector<trace::Moment> moments_;          // of rank 0's node, one a call of read()
  std::vector<std::vector<Reading>> readings_;  // at rank 0: by call, then by node
};

}  // namespace tutti::mpi
