// A team whose members are ranks of the host MPI (team/node_team.h).
//
// The world's team is the ranks of MPI_COMM_WORLD on this node. It is formed inside MPI_Init and
// lives until the registry closes. A communicator whose ranks have no MPI_COMM_WORLD in common (of
// a session, or with spawned processes) forms a team of all its ranks inside its first collectives.
// Later communicators whose ranks are all members share that team, which ends with the last of
// them.
//
// A team is formed by collective calls. It owns a pending receive, about which waiting ranks ask,
// so that the host MPI makes progress.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/reach.h"
#include "mpi/host/host.h"
#include "mpi/host/pending_receive.h"
#include "mpi/host/private_group.h"
#include "placement/levels.h"
#include "team/node_team.h"

namespace tutti::mpi {

using team::AreaGrant;

// The ranks of a communicator as ranks of a group; empty if one of them is not in the group. Any
// thread; no communication.
std::vector<int> places_in(Comm communicator, int ranks, Group group);
// True if all ranks of a communicator are in the group. Any thread; no communication.
bool all_within(Comm communicator, int ranks, Group group);
// Replaces *group by a subgroup of `from` with the same processes in the same order. Processes that
// are not in `from` are left out.
void rebase(PrivateGroup& group, Group from);

class Team : public team::NodeTeam {
 public:
  // Collective over MPI_COMM_WORLD. Null if this process gets no team; *why_not is then the reason.
  // `one_node`: all ranks were told that they are on one node.
  static std::unique_ptr<Team> form_of_world(bool one_node, std::string* why_not);
  // Collective over the communicator. Null at all ranks if they are on several nodes (*why_not then
  // stays empty) or cannot share memory.
  static std::unique_ptr<Team> form_of_all(Comm communicator, int ranks, bool of_several_jobs,
                                           std::string* why_not);
  ~Team();

  bool of_several_jobs() const { return of_several_jobs_; }
  // All members are of MPI_COMM_WORLD.
  bool of_world() const { return of_world_; }
  // The levels that a communicator's ranks share, the same at all of them; one level if a rank is
  // no member. No communication.
  placement::Levels levels(Comm communicator, int ranks) const;
  // How the ranks of a communicator reach each other's buffers; only by the slots if a rank is no
  // member. No communication.
  exec::Reach reach(Comm communicator, int ranks) const;
  // Returns the number in the team of each rank of a communicator; -1: it is no member. No
  // communication.
  std::vector<int> members_among(Comm communicator, int ranks) const;
  std::vector<int> members_among(Group group, int ranks) const;
  // A communicator's ranks as ranks of the team; empty if one of them is no member.
  std::vector<int> members(Comm communicator, int ranks) const;
  // True if all ranks of a communicator are members.
  bool covers(Comm communicator, int ranks) const;

  // MPI_COMM_WORLD ends, so nothing that was made from it may be used any more. The team now holds
  // its members as a subgroup of `processes`, a session's group, and waiting members no longer
  // drive the host.
  void leave_world(Group processes);

 private:
  Team(Comm communicator, bool of_world);
  bool share(Comm members, PrivateCommunicator own, std::string* why_not);

  const bool of_world_;
  bool of_several_jobs_ = false;
  PendingReceive pending_;  // waiting ranks make the host progress by it
  PrivateGroup group_;
};

}  // namespace tutti::mpi
