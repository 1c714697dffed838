// What serves a communicator: its group, and what the group stands on.
//
// Made by a communicator's set-up, which is collective; owned by the communicator, or, after that
// one has ended, by the parking lot. Programs that split off a communicator, use it a little and
// free it soon make another one of the same ranks. So the service of a communicator of one node is
// parked when the communicator ends, and the next one of the same ranks in the same order takes it:
// memory, programs, kernels and known calls are ready then.
//
// Rank 0 of those ranks, the leader, decides. Each rank says in its Control that it has parked the
// service; the leader takes one that all have parked, clears their words and tells the others its
// identity. The leader keeps a few, and retires others by its own word: then each rank releases its
// part when it parks its next one. A piece of memory is taken anew only when all ranks have
// released it, so the leader's word stays readable as long as anybody looks at it.
//
// One thread at a time uses a service. The lot has a lock.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "group/group.h"
#include "mpi/abi/host.h"
#include "mpi/job/team.h"

namespace tutti::mpi {

// What a reduction by a predefined type and operation needs.
struct KernelChoice {
  MPI_Datatype type{};
  MPI_Op op{};
  exec::Combine combine;  // its context is this object
};

struct Service {
  explicit Service(std::shared_ptr<Team> its_team) : team(std::move(its_team)) {}
  ~Service();
  Service(const Service&) = delete;

  std::shared_ptr<Team> team;       // before the group, which lies in its memory
  shm::Segment* segment = nullptr;  // the team's, that its areas are in; null: none
  uint32_t page = 0;
  std::map<std::pair<MPI_Datatype, MPI_Op>, KernelChoice> kernels;
  uint32_t missing_types = 0;  // that rank 0's host lacks (types.h)
  std::unique_ptr<group::Group> group;

  // For the lot.
  std::vector<int>
      members;  // as ranks of the team, in the communicator's order; empty: it is not parked
  uint64_t identity = 0;  // in its team
  shm::Layout layout;

  bool is_leader() const { return group != nullptr && group->rank() == 0; }
  shm::Word& parked(int rank) const;  // a rank's word
};

// Keeps a service whose communicator has ended; destroys it where it cannot serve another one.
void park(std::unique_ptr<Service> service) noexcept;
// A service that all members have parked, for their leader; null where there is none.
std::unique_ptr<Service> take_parked(const Team& team, const std::vector<int>& members);
// The one that the leader has taken, for the others.
std::unique_ptr<Service> take_parked(const Team& team, uint64_t identity);
// When the registry closes, and where MPI_COMM_WORLD ends while sessions go on.
void empty_parking_lot();

}  // namespace tutti::mpi
