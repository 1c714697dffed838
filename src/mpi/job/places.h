// Where the ranks of MPI_COMM_WORLD are: on which node, who of them share memory, and what they
// share on their node.
//
// Gathered once, inside MPI_Init, where the ranks are on several nodes or use no shared memory; the
// same at all ranks and constant from then on, so that what is decided from it is decided alike
// everywhere. Nodes' ranks tell their first one; those tell each other, in as many rounds as the
// number of nodes has bits, and then their own. Any thread may read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "group/placement.h"

namespace tutti::mpi {

class Team;

// As `uname -n` says.
std::string host_name();
// The cluster of this process's node by TUTTI_CLUSTERS, -1 where it is in none; 0 without that
// variable. Throws Error naming file and line where that is wrong. Reads the file when first asked.
int32_t own_cluster();
// Of that file's text: the same for all who read the same.
uint64_t clusters_fingerprint();

class Places {
 public:
  // Collective over MPI_COMM_WORLD. `team` is this process's there, null where it shares memory
  // with nobody. Null at all ranks where one team has them all and may be used. Tells the team
  // where others crowd its cores.
  static std::shared_ptr<const Places> gather(Team* team);

  const group::Placement& of_world() const { return of_world_; }
  // Whether ranks outnumber cores on this process's machine.
  bool oversubscribed_here() const { return oversubscribed_here_; }

 private:
  group::Placement of_world_;
  bool oversubscribed_here_ = false;
};

}  // namespace tutti::mpi
