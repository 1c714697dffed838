// Gathers where the ranks of MPI_COMM_WORLD are (placement/world.h).
//
// The placement is gathered once, inside MPI_Init, if the ranks are on several nodes or use no
// shared memory. It is the same at all ranks and constant from then on, so all ranks decide alike
// from it. The ranks of each node send their locations to the node's first rank. The nodes' first
// ranks exchange them, in as many rounds as the number of nodes has bits, and send the result to
// the ranks of their nodes. The registry of communicators owns the object; any thread may read it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "placement/cores.h"
#include "placement/world.h"

namespace tutti::mpi {

class Team;

// Throws Error, one line, if TUTTI_TOPOLOGY has a value that is not accepted.
void check_topology();
// The cluster of this process's node in the file that TUTTI_CLUSTERS names; -1 if the node is in
// none, 0 without that variable. Throws Error naming file and line if the file is malformed. The
// first call reads the file.
int32_t own_cluster();
// A hash of that file's text. Equal texts have equal hashes in all processes.
uint64_t clusters_fingerprint();

class GatheredPlacement {
 public:
  // Collective over MPI_COMM_WORLD. `team` is this process's team there, null if the process shares
  // memory with no other. Returns null at all ranks if the world has one rank, or if one team has
  // all ranks and may be used. Calls team->know_oversubscribed() if ranks outnumber the machine's
  // cores.
  static std::shared_ptr<const GatheredPlacement> gather(Team* team);

  const placement::WorldPlacement& of_world() const { return of_world_; }
  // True if ranks outnumber cores on this process's machine.
  bool oversubscribed_here() const { return oversubscribed_here_; }

 private:
  placement::WorldPlacement of_world_;
  bool oversubscribed_here_ = false;
};

}  // namespace tutti::mpi
