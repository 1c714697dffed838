// Where the ranks of MPI_COMM_WORLD are: on which node, who of them share memory, and what they share on their node.
//
// Gathered once, by collective calls inside MPI_Init, where the ranks are on several nodes or use no shared memory; the
// same at all ranks and constant from then on, so that what is decided from it is decided alike everywhere. Takes some 32
// bytes a rank. Any thread may read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/abi.h"
#include "plan/nodes.h"
#include "topo/levels.h"

namespace tutti::mpi {

class Team;

// As `uname -n` says.
std::string host_name();
// The cluster of this process's node by TUTTI_CLUSTERS, -1 where it is in none; 0 without that variable. Throws Error naming file
// and line where that is wrong. Reads the file when first asked.
int32_t own_cluster();
// Of that file's text: the same for all who read the same.
uint64_t clusters_fingerprint();

class Places {
 public:
  // Collective over MPI_COMM_WORLD. `team` is this process's there, null where it shares memory with nobody. Null at all
  // ranks where one team has them all and may be used. Tells the team where others crowd its cores.
  static std::shared_ptr<const Places> gather(Team* team);

  // Of some ranks of the world, by their places in it: who shares memory, and on which levels they lie.
  plan::Nodes nodes(const std::vector<int>& ranks) const;
  topo::Levels levels(const std::vector<int>& ranks) const;
  // By rank, the number of its node, whether or not that shares memory.
  std::vector<int32_t> machine_nodes(const std::vector<int>& ranks) const;
  int32_t machine_node_count(const std::vector<int>& ranks) const;
  // Whether ranks outnumber cores on the machine of a node of these, and on this process's.
  bool crowded(const std::vector<int>& ranks) const;
  bool crowded_here() const { return crowded_here_; }

 private:
  struct Place {
    int32_t node = 0;    // the place in the world of its node's first rank
    int32_t memory = 0;  // likewise of the first rank that it shares memory with
    int32_t crowded = 0;
    int32_t cluster = 0;
    std::array<int32_t, topo::floor_names.size()> floors{};  // a group's number on the node; 0 where it has one group
  };
  std::vector<Place> places_;  // by rank of the world
  bool crowded_here_ = false;
};

}  // namespace tutti::mpi
