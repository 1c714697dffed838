// What Tutti knows of one of the program's communicators.
//
// A Communicator is made by the communicator's first collective and counts those that the host has
// made. With the last one of TUTTI_SETUP_AFTER it sets up: it gets a group, or the reason why its
// calls stay on the host MPI. All members make the same calls, so all set up inside the same one,
// by collective calls on the program's communicator, holding no lock. A call that the host refuses
// at one rank for its arguments counts nowhere, because the other ranks have not made it. The
// registry (registry.h) owns it. MPI forbids concurrent collectives on one communicator, so it
// needs no lock.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "group/deposits.h"
#include "group/group.h"
#include "mpi/abi/host.h"
#include "mpi/communicators/leaders.h"
#include "mpi/communicators/part_table.h"
#include "mpi/job/served.h"
#include "mpi/communicators/service.h"
#include "mpi/job/team.h"
#include "report/reason.h"
#include "net/point_to_point.h"

namespace tutti::mpi {

// A communicator of this process alone.
struct Loopback {
  MPI_Comm handle;
  explicit Loopback(MPI_Comm made) : handle(made) {}
  ~Loopback() { host().Comm_free(&handle); }
  Loopback(const Loopback&) = delete;
};

// Memory of the process that is an area of one rank.
struct OwnArea {
  void operator()(std::byte* area) const;
};

// How the registry will hear of a communicator's end.
enum class Noted : uint8_t {
  not_yet,   // the handle may be no communicator's
  by_calls,  // it was made and will be freed by calls that Tutti sees
  by_attribute,
};

using report::Reason;

class Communicator {
 public:
  Communicator(MPI_Comm handle, uint64_t number) { renew(handle, number); }
  ~Communicator();
  Communicator(const Communicator&) = delete;

  // As made anew, for one that has not set up.
  void renew(MPI_Comm handle, uint64_t number);
  Noted noted() const { return noted_; }
  bool is_noted() const { return noted_ != Noted::not_yet; }
  void note(Noted how) { noted_ = how; }
  // True if it is time to set up; some communicators set up before their first call.
  bool has_enough_calls() const { return calls_left_ == 0; }
  // Counts a call that the host has made.
  void count() { --calls_left_; }
  // Counts it if nothing else is to be done: the communicator is noted and does not set up yet.
  // Returns whether it did.
  bool count_only() {
    if (!is_noted() || calls_left_ <= 1) return false;
    count();
    return true;
  }
  bool is_decided() const { return decided_; }
  // Sets up.
  void decide();

  MPI_Comm handle() const { return handle_; }
  uint64_t number() const { return number_; }  // in the order of making
  const Team* team() const { return team_.get(); }
  const std::shared_ptr<Team>& shared_team() const { return team_; }
  const net::PointToPoint* net() const {
    return net_.get();
  }  // null where all ranks are on one node
  const HostLeaders* leaders() const {
    return leaders_.get();
  }  // null where no rule has them exchange by the host
  shm::Segment* segment() const { return service_->segment; }  // the team's that its areas are in
  // What its persistent collectives take their memory from, made as they need it; other members'
  // too.
  group::Deposits::Segments& segments_of_deposits() { return segments_of_deposits_; }
  // Made by its first call, which is collective.
  const std::shared_ptr<Loopback>& loopback();
  // For the report: adds its messages to the tally; it sends no more. It has a net().
  void record_sent() const;
  group::Group* group() const { return group_; }
  uint32_t traced_as() const { return traced_as_; }  // its number in traces, where there are any
  Reason reason() const { return reason_; }

  // The combination for a predefined type and operation, kept as long as the communicator; null
  // where there is no kernel.
  const exec::Combine* kernel(MPI_Datatype type, MPI_Op op);

  // True where MPI defines the predefined operation for the type and the host's MPI_Reduce_local
  // knows it. The same at all ranks: rank 0 said which types its host lacks.
  bool host_combines(MPI_Datatype type, MPI_Op op) const;

  // Bytes of a predefined datatype without gaps, remembered; 0 for any other.
  size_t dense_bytes(MPI_Datatype type) {
    if (type == dense_type_ && dense_bytes_ != 0) [[likely]]
      return dense_bytes_;
    return find_dense_bytes(type);
  }
  // Elements beyond it do not fit the slots' rings. The same at all ranks.
  size_t largest_element() const { return largest_element_; }

  // An MPI error code for a group's one; the failure is said once and raised on the communicator's
  // error handler.
  int finish(Code code) {
    ServedCalls::note();
    if (code == Code::ok) [[likely]]
      return MPI_SUCCESS;
    return fail();
  }
  int fail();
  // Says once that Tutti cannot serve a call for this reason; the host does.
  void say(const std::string& what);

  // Where the parts of a call's two buffers are, for the time of the call.
  PartTable& parts(int which) { return parts_[static_cast<size_t>(which)]; }

  // Scratch of at least so many bytes for packed data; two of them. Large ones do not outlive
  // release_scratch.
  std::byte* scratch(int which, size_t bytes);
  void release_scratch();

 private:
  size_t find_dense_bytes(MPI_Datatype type);
  Reason set_up();
  Reason form_team(int ranks);
  Reason join(int ranks, std::vector<int> members);
  bool take_over(const AreaGrant& grant);
  // several_nodes.cpp
  Reason span_nodes(int ranks);
  bool take_areas(const std::vector<int32_t>& here, uint64_t* bytes_per_rank, AreaGrant* grant);
  std::byte* ready_areas(const std::vector<int32_t>& here, const shm::Layout& layout,
                         const AreaGrant& grant);
  group::Leaders* make_leaders(const placement::Levels& levels, int ranks);
  void make_group(group::Group::Settings settings);
  Service& service();
  bool all_attached(bool attached);

  MPI_Comm handle_;
  uint64_t number_;
  int calls_left_;  // to the host, before it sets up
  Noted noted_ = Noted::not_yet;
  bool decided_ = false;
  bool said_ = false;
  Reason reason_ = Reason::set_up_pending;
  std::shared_ptr<Team> team_;                    // before the group, which lies in its memory
  std::unique_ptr<net::PointToPoint> net_;        // likewise
  std::unique_ptr<HostLeaders> leaders_;          // likewise
  std::unique_ptr<std::byte, OwnArea> own_area_;  // of a rank that shares memory with no other
  std::unique_ptr<Service> service_;
  group::Group* group_ = nullptr;  // the service's
  uint32_t traced_as_ = 0;
  group::Deposits::Segments segments_of_deposits_;
  std::shared_ptr<Loopback> loopback_;
  size_t largest_element_ = 0;
  MPI_Datatype dense_type_{};
  size_t dense_bytes_ = 0;
  std::array<std::vector<std::byte>, 2> scratch_;
  std::array<PartTable, 2> parts_;
};

}  // namespace tutti::mpi
