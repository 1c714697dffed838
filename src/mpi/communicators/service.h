// A Service holds the parts of a communicator that a later communicator of the same ranks can use
// again: the group, and the memory and kernels that the group uses.
//
// The set-up of a communicator, which is collective, makes its service. The Communicator owns it;
// after the communicator has ended, the parking lot does. Programs that split off a communicator,
// use it a little and free it soon make another one of the same ranks. So the service of a
// communicator of one node is parked when the communicator ends, and the next communicator of the
// same ranks in the same order takes it, with its memory, programs, kernels and known calls.
//
// Rank 0 of those ranks, the leader, decides. Each rank has a word at the start of its area,
// shm::Control::parked, whose value is `in use`, `parked` or `retired`. Each rank stores `parked`
// when it parks the service. The leader takes a service that all ranks have parked, sets their
// words to `in use` and sends them the service's identity. The leader keeps a few services and
// retires the others by its own word. Each rank then releases its part of a retired service when it
// next parks one. Another rank may retire its part first, when MPI_COMM_WORLD ends there while the
// leader goes on: a word goes from `parked` to either of the other values by one atomic step, so
// either the leader has taken the service, and the rank keeps its part for the set-up to come, or
// the leader finds that it cannot take it. A piece of memory is taken anew only when all ranks have
// released it, so the leader's word stays readable as long as any rank reads it.
//
// A communicator may also have a service that has nothing but records, because it makes collectives
// that outlive their call before it has set up (Communicator::find_records). Each rank makes its
// own, and it is never parked.
//
// One thread at a time uses a service, apart from its records (records.h), which operations may
// still use after the communicator has ended. Each process has one parking lot, which has a lock
// and is never destroyed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "group/group.h"
#include "mpi/host/host.h"
#include "mpi/communicators/records.h"
#include "mpi/job/team.h"

namespace tutti::mpi {

// The combination of a predefined type and operation by a kernel, with the host's handles. The
// context of `combine` points to this object, in which HostLeaders finds the handles, so the object
// must not move.
struct KernelChoice {
  Datatype type{};
  Op op{};
  exec::Combine combine;
};

struct Service {
  explicit Service(std::shared_ptr<Team> its_team) : team(std::move(its_team)) {}
  ~Service();
  Service(const Service&) = delete;

  std::shared_ptr<Team> team;       // comes before the group, which uses its memory
  shm::Segment* segment = nullptr;  // the team's segment that the areas are in; null: none
  // The first page of the group's areas in the segment. The destructor gives up this rank's share
  // of these areas.
  uint32_t page = 0;
  std::map<std::pair<Datatype, Op>, KernelChoice> kernels;
  uint32_t missing_types = 0;  // the types that rank 0's host cannot reduce (types.h)
  std::unique_ptr<group::Group> group;

  // The combination of a predefined type and operation by a kernel; null if there is no kernel. It
  // lives as long as the service.
  const exec::Combine* kernel(Datatype type, Op op);
  // True if MPI defines the predefined operation for the type and the host's MPI_Reduce_local can
  // combine it. The same at all ranks, because rank 0 has told them which types its host lacks.
  bool host_combines(Datatype type, Op op) const;

  // For the parking lot. The members are ranks of the team, in the communicator's order; if there
  // are none, the service is never parked.
  std::vector<int> members;
  uint64_t identity = 0;  // unique in its team
  shm::Layout layout;     // the layout of the areas in the segment

  // For collectives that outlive their call. records() makes them at the first call, which may
  // throw; may_have_records() tells, at all ranks alike, whether there can be any.
  bool may_have_records() const {
    return group != nullptr && group->on_one_node() && segment != nullptr &&
           segment->location().kind == shm::Segment::Kind::memfd;
  }
  Records& records();
  // For a service that has nothing else: makes the records, whose ledgers are found by a key.
  // `its_members` are the ranks in the team, in the communicator's order. May throw, and may then
  // be called again.
  void open_records(const records::Key& key, std::vector<int> its_members, int rank);
  Records* made_records() { return records_.get(); }
  // The communicator that uses the service; MPI_COMM_NULL after its end, when operations that it
  // has started may still be under way. Any thread.
  Comm communicator() const { return (Comm)shm::load_relaxed(communicator_); }
  // Another number for each communicator that uses the service, whose handles may be equal, and
  // after its end. Any thread.
  uint64_t uses() const { return shm::load_relaxed(uses_); }
  void serve(Comm communicator) {
    shm::store_relaxed(communicator_, (uint64_t)communicator);
    shm::store_relaxed(uses_, uses() + 1);
  }

  bool is_leader() const { return group != nullptr && group->rank() == 0; }
  shm::Word& parked(int rank) const;  // Control::parked of a rank

 private:
  void add_records(Records::Settings settings);

  shm::Word communicator_{0};
  shm::Word uses_{0};
  std::unique_ptr<records::LedgersByKey> by_key_;  // the ledgers of the records
  std::unique_ptr<Records> records_;
};

// Destroys the service of a communicator that has ended, or leaves it until all operations that its
// communicator has started are completed at all ranks. Some of the services that are left are
// looked at in each later call, in turn.
void retire(std::unique_ptr<Service> service) noexcept;
// Waits until no rank needs the records of any service of this process; for the end of MPI. An
// operation that this rank has not completed is an error of the program: it is logged once, and
// nothing waits for it. Does not wait for a rank whose process has ended.
void settle_records();

// Parks the service of a communicator that has ended; destroys it if it cannot serve another one.
void park(std::unique_ptr<Service> service) noexcept;
// For the leader of these members: takes a service that all of them have parked; null if there is
// none.
std::unique_ptr<Service> take_parked(const Team& team, const std::vector<int>& members);
// For the leader: parks a service again that it has taken and that no other member will take.
void park_again(std::unique_ptr<Service> service) noexcept;
// For the other members: takes the service that the leader has taken; null if it is not parked.
std::unique_ptr<Service> take_parked(const Team& team, uint64_t identity);
// Destroys the parked services that no rank needs, when MPI_COMM_WORLD ends while sessions go on.
void empty_parking_lot() noexcept;
// Destroys all services whose communicators have ended, when the registry closes.
void end_services();

}  // namespace tutti::mpi
