// The lanes of a communicator over several nodes: their memory, their messages and their driving,
// for non-blocking collectives that a server drives (job/servers.h).
//
// The communicator's set-up makes them, which is collective. The communicator and its operations
// under way hold them, because a program may free a communicator before its operations are
// complete. Their messages travel over a private communicator of the host, in which each lane has
// tags of its own. One thread at a time may issue; any thread may drive.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "group/lanes.h"
#include "mpi/abi/host.h"
#include "mpi/communicators/node_areas.h"
#include "mpi/job/team.h"
#include "net/point_to_point.h"

namespace tutti::mpi {

class ServedLanes {
 public:
  // `messages` becomes the object's. There is an entry of the areas and of the nets for each lane.
  // `settings` are those of the communicator's group; the areas' layout replaces its layout.
  struct Parts {
    std::shared_ptr<Team> team;  // of the areas; may be null
    MPI_Comm messages{};
    std::vector<NodeAreas> areas;
    std::vector<std::unique_ptr<net::PointToPoint>> nets;
  };
  ServedLanes(Parts parts, group::Group::Settings settings);
  ~ServedLanes();
  ServedLanes(const ServedLanes&) = delete;

  group::Lanes& lanes() { return *lanes_; }
  // The communicator on which errors are raised; MPI_COMM_NULL after its end. Any thread.
  MPI_Comm communicator() const { return (MPI_Comm)shm::load_relaxed(communicator_); }
  void serve(MPI_Comm communicator) { shm::store_relaxed(communicator_, (uint64_t)communicator); }
  exec::WaitStyle wait_style() const { return wait_style_; }
  // Adds the messages that this rank has sent to the report, once.
  void record_sent();

 private:
  Parts parts_;
  std::unique_ptr<group::Lanes> lanes_;
  exec::WaitStyle wait_style_;
  shm::Word communicator_{0};
  bool recorded_ = false;
};

}  // namespace tutti::mpi
