// The lanes of a communicator over several nodes: their memory, their messages and their driving,
// for collectives that outlive their call and that a server drives (job/servers.h).
//
// They are made by collective calls: those of non-blocking collectives by the communicator's
// set-up, those of persistent ones when they are needed (persistent_lanes.h). The communicator and
// its operations under way hold them, because a program may free a communicator before its
// operations are complete. Their messages travel over a private communicator of the host, in which
// each lane has tags of its own. One thread at a time may choose programs (group::Lanes::prepare);
// any thread may drive.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "records/neighbours.h"
#include "group/lanes.h"
#include "mpi/host/host.h"
#include "mpi/host/private_communicator.h"
#include "mpi/communicators/node_areas.h"
#include "mpi/job/team.h"
#include "net/point_to_point.h"

namespace tutti::mpi {

class ServedLanes {
 public:
  // The parts from which all lanes of a communicator are made.
  struct Making {
    // Those of the communicator's group; the layout of the lanes' areas replaces its layout.
    group::Group::Settings settings;
    std::vector<int32_t> here;   // the ranks that share memory with this one
    std::shared_ptr<Team> team;  // the team of these ranks; null if this rank is alone
    placement::PeriodicRow machine_nodes;
    size_t first_lane = 0;  // the number of the first one among the communicator's lanes
  };
  // Makes group::Lanes::count lanes, by collective calls over a communicator of the same ranks.
  // Null at all ranks if one of them has no server, or no memory for the lanes; *why_not then says
  // so at rank 0.
  static std::shared_ptr<ServedLanes> make(Comm over, const Making& making, std::string* why_not);
  ~ServedLanes();
  ServedLanes(const ServedLanes&) = delete;

  group::Lanes& lanes() { return *lanes_; }
  // The private communicator, for collective calls of all ranks.
  Comm messages() const { return parts_.messages.get(); }
  // The communicator on which errors are raised; MPI_COMM_NULL after its end. Any thread.
  Comm communicator() const { return (Comm)shm::load_relaxed(communicator_); }
  void serve(Comm communicator) { shm::store_relaxed(communicator_, (uint64_t)communicator); }
  exec::WaitStyle wait_style() const { return wait_style_; }
  // The programs of this rank for collectives among its neighbours, bound for these lanes.
  struct Neighbours {
    records::Neighbourhood own;
    std::shared_ptr<const exec::BoundProgram> allgather, alltoall;
    std::string fault;  // one line, if the own edges do not fit together; else empty
  };
  // They are made at the first call, for the thread that chooses programs, and do not change; any
  // thread may read them. Null if the communicator has no topology. May throw, and has then made
  // nothing.
  const Neighbours* neighbours();
  // Adds the messages that this rank has sent to the report, once.
  void record_sent();

  // For lanes that have one user each: whether a lane has none at this rank. A user reserves a lane
  // and releases it when it has no operation under way. A lane that has failed does not become free
  // again. Any thread.
  bool is_free(size_t lane) const { return shm::observe(reserved_[lane]) == 0; }
  void reserve(size_t lane) { shm::publish(reserved_[lane], 1); }
  void release(size_t lane) {
    if (!lanes_->has_failed(lane)) shm::publish(reserved_[lane], 0);
  }

 private:
  struct Parts {
    std::shared_ptr<Team> team;    // the team of the areas; may be null
    PrivateCommunicator messages;  // the nets' requests end before it
    // One for each lane.
    std::vector<NodeAreas> areas;
    std::vector<std::unique_ptr<net::PointToPoint>> nets;
  };
  ServedLanes(Parts parts, const Making& making);
  static std::vector<group::Lanes::Place> places_of(const Parts& parts, size_t first_lane);

  Parts parts_;
  const int rank_, ranks_;
  std::unique_ptr<group::Lanes> lanes_;
  std::unique_ptr<const Neighbours> neighbours_;
  exec::WaitStyle wait_style_;
  shm::Word communicator_{0};
  std::array<shm::Word, group::Lanes::count> reserved_{};
  bool recorded_ = false;
};

// Returns the largest tag that the host permits, for PointToPoint.
int largest_tag();

}  // namespace tutti::mpi
