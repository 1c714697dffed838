// A SeveralNodes object is the part of a communicator whose ranks are on several nodes, or use no
// shared memory (TUTTI_REACH=net).
//
// The ranks of each node take areas (node_areas.h). If ranks of a node do not share memory, each of
// them counts as a node and has an area of its own. Set-up uses the private communicator, which
// carries only the ranks' messages from then on.
//
// The object takes private communicators for its messages, its leaders and its lanes. All of them
// come from the host's supply, which is the program's, too (MPICH has about 2,000). So Tutti takes
// only a bounded share of it, and further communicators stay on the host. A Communicator owns
// the object, which gives all of it back at its end; the group that uses it ends before. One thread
// at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "group/group.h"
#include "mpi/communicators/leaders.h"
#include "mpi/communicators/node_areas.h"
#include "mpi/communicators/persistent_lanes.h"
#include "mpi/communicators/served_lanes.h"
#include "mpi/host/host.h"
#include "mpi/host/private_communicator.h"
#include "mpi/job/gathered_placement.h"
#include "mpi/job/team.h"
#include "net/point_to_point.h"
#include "report/reason.h"

namespace tutti::mpi {

using report::Reason;

// Makes what exchanges the parts of alltoalls by servers (mpi/one_sided/exchange.h); null: nothing
// does. Collective over the communicator, of which this is `rank`. Set before MPI begins.
using MakeExchange = std::shared_ptr<group::Exchange>(Comm over, int rank, int ranks,
                                                      exec::WaitStyle style);
inline MakeExchange* make_exchange = nullptr;

class SeveralNodes {
 public:
  // Collective over a communicator, whose ranks are in MPI_COMM_WORLD. `team`: of this node's
  // ranks; null: they share no memory. Null, at all ranks, if the host must make the collectives;
  // *why_not then says why, and is `none` otherwise.
  static std::unique_ptr<SeveralNodes> make(Comm over, int ranks, const std::shared_ptr<Team>& team,
                                            Reason* why_not);
  ~SeveralNodes();
  SeveralNodes(const SeveralNodes&) = delete;

  // For the group, but for what is the same for all groups of this process.
  const group::Group::Settings& settings() const { return settings_; }
  // For traces, and the types that some rank's host cannot reduce; the same at all ranks.
  uint64_t identity() const { return common_.identity; }
  uint32_t missing_types() const { return common_.missing_types; }
  // Makes the lanes of non-blocking collectives, if servers are asked for, with the settings of the
  // group. Collective. If some rank has no server, or no memory for them, there are none, and the
  // host serves these collectives and persistent ones.
  void make_lanes(const group::Group::Settings& settings);
  // To be called when the communicator ends, before the group does.
  void end_lanes();

  // Null unless a rule may ask for the host's collectives among the nodes' leaders.
  const HostLeaders* leaders() const { return leaders_.get(); }
  // The team's segment that the areas are in; null if this rank shares memory with no other.
  shm::Segment* segment() const { return areas_.segment(); }
  // Null: none were made.
  const std::shared_ptr<ServedLanes>& lanes() const { return lanes_; }
  // A lane for a persistent collective, if there are lanes(). Collective (persistent_lanes.h).
  PersistentLanes::Lease take_persistent_lane(bool serves) {
    return persistent_lanes_->take(lanes_->messages(), over_, serves);
  }
  void decide_by(const select::Table* table);
  // Adds the messages that it has sent to the report. MPI_Finalize calls it before it writes the
  // report, and the communicator's end calls it, which has no effect once the report is written.
  void record_sent() const;

 private:
  // Rank 0 tells all ranks these facts.
  struct Common {
    uint64_t identity = 0;
    uint32_t missing_types = 0;
  };
  SeveralNodes(Comm over, int ranks);
  Reason take_messages(const placement::WorldPlacement& world, const std::vector<int>& members);
  Reason take_areas(const GatheredPlacement& gathered, const std::vector<int>& members,
                    const std::shared_ptr<Team>& team);
  group::Leaders* make_leaders();
  std::shared_ptr<group::Exchange> make_exchange_by_servers();

  const Comm over_;           // the program's
  int64_t private_left_ = 0;  // how many private ones may still be taken, the same at all ranks
  group::Group::Settings settings_;
  Common common_;
  std::vector<int32_t> here_;   // the ranks that share memory with this one
  std::shared_ptr<Team> team_;  // they are in it; null if this rank is alone
  placement::PeriodicRow machine_nodes_;
  PrivateCommunicator messages_;  // net_ uses it
  std::unique_ptr<net::PointToPoint> net_;
  std::unique_ptr<HostLeaders> leaders_;
  NodeAreas areas_;
  std::shared_ptr<ServedLanes> lanes_;
  std::unique_ptr<PersistentLanes> persistent_lanes_;
};

}  // namespace tutti::mpi
