// The one-sided side of a process on its node: its side that faces the node's ranks and servers
// (api/near_side.h), the one that faces other nodes, which is the endpoints of its servers
// (endpoints.h) and the queues by which its groups hand transfers to servers that have some
// (rma/handing.h), and its groups' places at both.
//
// The team is the world's. A process makes its Node with its first group. It ends inside
// MPI_Finalize. Any thread.
#pragma once

#include <atomic>
#include <bit>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mpi/job/team.h"
#include "mpi/one_sided/between_nodes.h"
#include "mpi/one_sided/endpoints.h"
#include "api/near_side.h"
#include "api/team.h"
#include "report/tally.h"
#include "rma/handing.h"
#include "rma/policy.h"

namespace tutti::mpi {

// The places of a process's groups that are free, at most 63. A plain value, which takes no memory,
// so that places can be given back when memory has run out.
class FreePlaces {
 public:
  // The places from 0 to count - 1 are free.
  void add(int count) { free_ |= (uint64_t{1} << count) - 1; }
  // The lowest one; -1 if none is free.
  int take() {
    if (free_ == 0) return -1;
    const int place = std::countr_zero(free_);
    free_ &= free_ - 1;
    return place;
  }
  // Has no effect if `place` is negative.
  void give(int place) {
    if (place >= 0) free_ |= uint64_t{1} << place;
  }

 private:
  uint64_t free_ = 0;
};

class Node final : public tutti_team {
 public:
  // Without a team the process reaches no memory but its own. Throws Error(unavailable).
  explicit Node(std::shared_ptr<Team> team);
  ~Node() override;

  void start_servers(int count, tutti_serve serve) override;
  void stop_servers() override;
  void enable_servers(bool enabled) override;
  void keep_servers_awake(bool awake) override;
  int count_servers() override { return near_side_.count_servers(); }
  // Starts those of the servers that TUTTI_SERVERS asks for that belong into this process; once.
  void start_asked_servers();

  // Returns the parts of the group of these ranks (api/one_sided.h); *place is its client place,
  // for give_back(), or -1 if it has none and executes all transfers itself. `members`:
  // by rank, its number in the team; -1: it is on another node.
  api::OneSided::Processes processes(const std::vector<int>& members, int own_rank, int* place);
  void enter(api::OneSided& group);
  // Completes the group's transfers.
  void leave(api::OneSided& group);
  // After the end of the group's client: its places, also that for handing().
  void give_back(int place, int far_place);
  exec::WaitStyle wait_style() const { return near_side_.wait_style(); }
  // Collective over the communicator, of all ranks of MPI_COMM_WORLD, on several nodes; before the
  // servers that TUTTI_SERVERS asks for start. `members`: as above; `in_world`: the ranks there.
  // Makes the endpoints of the node's servers, once.
  void make_endpoints(Comm communicator, const std::vector<int>& members,
                      const std::vector<int>& in_world, int own_rank);
  // The way by which a group hands transfers with other nodes to servers; null if there is none for
  // it. *place is then its place, for give_back().
  std::unique_ptr<rma::Handing> handing(int* place);
  // In the node's memory, until end().
  ServersTold servers_told() const {
    return {&near_side_.domain().enabled(), &near_side_.domain().awake()};
  }
  // Lets the processes of servers that run now, of all ranks, copy from and into this one.
  void let_servers_copy() { near_side_.let_servers_copy(); }

  // Adds what this process did to the report.
  void record();
  // For MPI_Finalize: completes all transfers of this process.
  void end_groups();
  // Then: returns when all ranks have ended their transfers.
  void leave_far_side() {
    if (endpoints_ != nullptr) endpoints_->leave();
  }
  // After that, when this process answers no other one any more.
  void end();
  // For fork: no other thread changes anything from hold() to release(). become_alone() is for the
  // child, before release().
  void hold() { mutex_.lock(); }
  void release() { mutex_.unlock(); }
  void become_alone();

 private:
  void hand_over_idle_endpoints();

  std::shared_ptr<Team> team_;
  std::atomic<bool> started_asked_{false};
  std::atomic<bool> makes_endpoints_{false};  // or has made them, or the host permits none

  std::mutex mutex_;  // guards all below
  api::NearSide near_side_;
  std::unique_ptr<Endpoints> endpoints_;  // null: the servers of this process have none
  // The client places of this process, and those of groups that hand over transfers with other
  // nodes.
  FreePlaces free_places_, free_far_places_;
  std::optional<rma::Policy> far_policy_;  // follows from a map; none: groups learn
  std::set<api::OneSided*> groups_;
  api::OneSided::Counts ended_;  // the counts of groups that were freed
};

// This process's Node; made at the first call while MPI runs. Null if it has none and `make` is
// false.
std::shared_ptr<Node> this_node(bool make);
// Reads the maps that TUTTI_SATURATION names, so that the job says at its start which of them it
// cannot use. Without this only transfers would read them.
void look_at_saturation_maps();
// Call it before the report is written, which it tells what this process did, and before the
// registry closes. Returns when all other ranks have ended their transfers, too.
void end_one_sided();

}  // namespace tutti::mpi
