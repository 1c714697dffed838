// A Communicator is this process's record of one of the program's communicators: whether Tutti or
// the host serves its collectives, and what Tutti needs to serve them.
//
// Set-up gives it a group, or the reason why its calls stay on the host MPI. MPI_COMM_WORLD sets up
// inside MPI_Init. A communicator with a lineage (lineage.h) whose ranks are in one team meets: it
// sets up at the start of its first blocking collective, through the memory of the team (meet). The
// host makes the first collectives on any other communicator, and the Communicator counts them;
// inside the third, 24th or 48th, depending on the host, it sets up. TUTTI_SETUP_AFTER sets another
// number, and then communicators with a lineage are counted, too. If the number is 0, as always
// with TUTTI_REPRODUCIBLE=placement, they set up when they are made (calls_to_host in
// communicator.cpp).
//
// Collectives that outlive their call, and those among neighbours, do not wait for set-up, and must
// not set up, because they must not wait for other ranks. If the communicator has a lineage and its
// ranks are in one team, the first such collective opens records, by which the ranks find each
// other without a message (find_records). The Communicator then sets up inside its next blocking
// collective. If it has no lineage, the host makes them, and communicators that are made from it
// set up when they are made.
//
// All members make the same calls, so all set up inside the same one, holding no lock: by meeting,
// or by collective calls on the program's communicator. A call that the host refuses at one rank
// for its arguments is not counted, because the other ranks have not made it, and does not wait for
// them in a meeting.
//
// The registry (registry.h) owns the object from the making of the communicator, or from its first
// collective, to its end. MPI forbids concurrent collectives on one communicator, so one thread at
// a time uses the object, which has no lock.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/options.h"
#include "group/group.h"
#include "mpi/host/host.h"
#include "mpi/host/private_communicator.h"
#include "mpi/communicators/lineage.h"
#include "mpi/communicators/neighbour_records.h"
#include "mpi/communicators/call_memory.h"
#include "mpi/communicators/one_node.h"
#include "mpi/job/found_table.h"
#include "mpi/job/served.h"
#include "mpi/communicators/service.h"
#include "mpi/communicators/several_nodes.h"
#include "mpi/job/team.h"
#include "report/reason.h"

namespace tutti::mpi {

// How the registry will learn that a communicator ends.
enum class Noted : uint8_t {
  not_yet,       // in no way so far: the handle may be no communicator's
  by_calls,      // it was made and will be freed by calls that Tutti sees
  by_attribute,  // the host calls the delete callback of an attribute
};

class Communicator {
 public:
  Communicator(Comm handle, uint64_t number) { renew(handle, number); }
  ~Communicator();
  Communicator(const Communicator&) = delete;

  // Makes it the Communicator of another handle. The registry keeps at most 16 objects whose
  // communicators ended before they served anything, and renews them for new handles.
  void renew(Comm handle, uint64_t number);
  bool may_be_renewed() const { return !decided_ && records_service_ == nullptr; }
  Noted noted() const { return noted_; }
  bool is_noted() const { return noted_ != Noted::not_yet; }
  void note(Noted how) { noted_ = how; }
  // True if it is time to set up. It may be true before the first call.
  bool has_enough_calls() const { return calls_left_ == 0; }
  // The host makes all further calls: it must report that the communicator is revoked, or its ranks
  // are threads.
  void leave_to_host(Reason why) {
    decided_ = true;
    meeting_ = Meeting::over;
    group_ = nullptr;
    reason_ = why;
  }
  // Counts a call that the host has made.
  void count() { --calls_left_; }
  // Counts the call if nothing else is to be done, because the communicator is noted and does not
  // set up in this call. Returns true if it has counted the call.
  bool count_only() {
    if (!is_noted() || calls_left_ <= 1) return false;
    count();
    return true;
  }
  // For a communicator that was made from one with a lineage; before anything else uses it.
  void descend(Lineage lineage) { ancestry_ = Ancestry(std::move(lineage)); }
  Ancestry& ancestry() { return ancestry_; }
  // True if non-blocking collectives are to be expected on it, so that it sets up in its next
  // blocking collective, or when it is made.
  bool expects_nonblocking() const { return expects_nonblocking_; }
  void expect_nonblocking() {
    expects_nonblocking_ = true;
    if (options().setup_after == setup_after_automatic) calls_left_ = 0;
  }
  // True if it has set up, or has failed to.
  bool is_decided() const { return decided_; }
  // False if meets() is certainly false.
  bool may_meet() const { return meeting_ <= Meeting::expected; }
  // True if it sets up by meet(), the same at all ranks. Local. May throw, and may then be called
  // again.
  bool meets() {
    if (meeting_ == Meeting::unknown) judge_meeting();
    return meeting_ == Meeting::expected;
  }
  // Call it if meets(), at the start of a blocking collective. Rank 0 takes memory and
  // announces it; the others wait for the announcement. `is_refused` tells whether the host refuses
  // this rank's arguments: then the other ranks may not know of the call, so this rank does not
  // wait. Rank 0 then postpones set-up to the usual number of calls, because others, whose
  // arguments are right, may wait for it. It also does so if little memory is left. If it throws
  // before rank 0 has announced, the next call tries again; if it throws later, the reason is
  // set_up_broken.
  void meet(const std::function<bool()>& is_refused);
  // Sets up, by collective calls. If that throws at this rank, the reason is set_up_broken.
  void decide();

  Comm handle() const { return handle_; }
  uint64_t number() const { return number_; }  // in the order of making at this rank
  uint64_t path() const { return born().path; }
  // The team that set-up chose; null before set-up, or if set-up chose none. A communicator may
  // have a team and no group.
  const Team* team() const { return team_.get(); }
  // True if it uses a team that has processes of several jobs.
  bool is_of_several_jobs() const {
    return (team_ != nullptr && team_->of_several_jobs()) ||
           (born().team != nullptr && born().team->of_several_jobs());
  }
  // True if it ends with MPI_COMM_WORLD, and Tutti has made communicators for it, which must be
  // freed before. Those that were made beside open sessions may be of these.
  bool has_messages_of_world() const {
    return several_nodes_ != nullptr && (noted_ == Noted::by_calls || handle_ == host().comm_world);
  }
  // Null if the ranks exchange no messages.
  SeveralNodes* several_nodes() const { return several_nodes_.get(); }
  // The team's segment that its areas are in; null if this rank shares memory with no other. To be
  // called only if group() is not null.
  shm::Segment* segment() const {
    return several_nodes_ != nullptr ? several_nodes_->segment() : service_->segment;
  }
  // Why the host makes the collectives that records would serve; none: served_by() has records for
  // them, which this function opens if need be. The same at all ranks. `between_nodes` is the
  // reason on several nodes. Makes no collective calls. If it throws, memory lacks at this rank
  // alone, and the next call tries again.
  Reason find_records(Reason between_nodes) {
    if (group_ == nullptr || by_lineage_ == ByLineage::chosen) return find_by_lineage();
    if (!group_->on_one_node()) return between_nodes;
    return service_->may_have_records() ? Reason::none : Reason::no_growing_memory;
  }
  // True if its non-blocking collectives run in lanes, at all ranks or at none: it is over several
  // nodes, and there are servers.
  bool has_lanes() const { return several_nodes_ != nullptr && several_nodes_->lanes() != nullptr; }
  // Changes the rules by which the group and the lanes choose algorithms from now on; null: no
  // table. All ranks call it with the same rules, between the same two collectives.
  void decide_by(const select::Table* table);
  void decide_by_jobs_table() { decide_by(table_of_job(of_world())); }
  // Returns the service of these collectives. Call it only if find_records has returned none.
  Service& served_by() const { return records_service_ ? *records_service_ : *service_; }
  // The records of its neighbourhood collectives, which are opened at the first one; null if it has
  // no topology. For the thread that makes collective calls on it, if find_records has returned
  // none. May throw, and has then opened nothing.
  const std::shared_ptr<NeighbourRecords>& neighbour_records();
  // Null before set-up, and if its calls stay on the host; reason() then says why.
  group::Group* group() const { return group_; }
  // This process's rank in the communicator, and the number of ranks. Call them only if it serves
  // collectives.
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  uint32_t traced_as() const { return traced_as_; }  // its number in traces, if tracing is on
  Reason reason() const { return reason_; }

  // The service's functions. Call them only if group() is not null.
  const exec::Combine* kernel(Datatype type, Op op) { return service_->kernel(type, op); }
  bool host_combines(Datatype type, Op op) const { return service_->host_combines(type, op); }

  CallMemory& memory() { return memory_; }
  // Bytes of the largest element that fits the slots' rings. The same at all ranks.
  size_t largest_element() const { return largest_element_; }

  // The MPI error code for a group's code. A failure is logged once and raised on the
  // communicator's error handler; a stall with TUTTI_STALL=abort ends the job.
  int finish(Code code) {
    if (code != Code::ok) [[unlikely]]
      return fail();
    ServedCalls::note();
    return success;
  }
  int fail();
  // Logs a failure, or why the host must serve a call. Only the first such line of a communicator
  // is logged.
  void say(const std::string& what);

 private:
  // The state of its set-up through the memory of its team, in its first blocking collective.
  enum class Meeting : uint8_t { unknown, expected, no, over };
  // The choice of records that its lineage opened. Once a rank has chosen them, it uses no others,
  // even if it could not make them yet or the communicator sets up.
  enum class ByLineage : uint8_t { unknown, no, chosen };

  const Lineage& born() const { return ancestry_.born(); }
  Reason look_at_ranks();
  Reason find_by_lineage();
  Reason judge_lineage();
  Reason set_up();
  Reason form_team();
  Reason join(std::vector<int> members);
  // The rest of set-up where all ranks are members of the team.
  OneNode on_one_node(std::vector<int> members) const;
  Reason use(OneNode& node, const AreaGrant& grant, shm::Word* closed);
  void serve_by(std::unique_ptr<Service> service);
  void judge_meeting();
  bool may_meet_by_lineage();
  Reason span_nodes();
  // All ranks are of MPI_COMM_WORLD. To be called once set-up has found its team or its nodes.
  bool of_world() const { return several_nodes_ != nullptr || team_->of_world(); }

  Comm handle_;
  uint64_t number_;
  int calls_left_;  // calls that the host makes before it sets up
  int rank_ = 0, ranks_ = 0;
  Ancestry ancestry_;
  Meeting meeting_ = Meeting::unknown;
  ByLineage by_lineage_ = ByLineage::unknown;
  Reason no_records_ = Reason::none;  // why its lineage does not serve
  Noted noted_ = Noted::not_yet;
  bool expects_nonblocking_ = false;
  bool decided_ = false;
  bool said_ = false;
  Reason reason_ = Reason::set_up_pending;
  // The group in service_ uses the next two, so they come before it and end after it.
  std::shared_ptr<Team> team_;
  std::unique_ptr<SeveralNodes> several_nodes_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<Service> records_service_;  // has records alone, opened by the lineage
  std::vector<int> members_;       // its ranks in its lineage's team, once they are needed
  group::Group* group_ = nullptr;  // the service's
  std::shared_ptr<NeighbourRecords> neighbours_;
  uint32_t traced_as_ = 0;
  size_t largest_element_ = 0;
  CallMemory memory_;
};

}  // namespace tutti::mpi
