// The one-sided side of a process on its node: its way to the other ranks' memory, the queues of
// its groups to the node's servers, and the servers that run in it.
//
// The node's queues are one rma::Domain in the segment of the world's team, which the first process
// makes that needs it. Each process has a few client places in it, one for each of its groups. A
// node has one or more domains of servers (TUTTI_SERVERS_DOMAIN); the servers of a domain have
// consecutive places, and clients use those of their own.
//
// A process makes its Node with its first group. It ends inside MPI_Finalize. Any thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mpi/job/team.h"
#include "mpi/one_sided/between_nodes.h"
#include "mpi/one_sided/far_side.h"
#include "mpi/one_sided/free_places.h"
#include "api/team.h"
#include "report/tally.h"
#include "rma/client.h"
#include "rma/domain.h"
#include "rma/process_mover.h"
#include "rma/server_processes.h"
#include "rma/server_threads.h"

namespace tutti::mpi {

class Node final : public tutti_team {
 public:
  // Without a team the process reaches no memory but its own. Throws Error(unavailable).
  explicit Node(std::shared_ptr<Team> team);
  ~Node() override;

  void start_servers(int count, tutti_serve serve) override;
  void stop_servers() override;
  void enable_servers(bool enabled) override;
  void keep_servers_awake(bool awake) override;
  int count_servers() override;
  // Starts those of the servers that TUTTI_SERVERS asks for that belong into this process; once.
  void start_asked_servers();

  // Returns the parts of the group of these ranks (api/one_sided.h); *place is its client place,
  // for give_back(), or -1 if it has none and executes all transfers itself. `members`:
  // by rank, its number in the team; -1: it is on another node.
  api::OneSided::Processes processes(const std::vector<int>& members, int own_rank, int* place);
  void enter(api::OneSided& group);
  // Completes the group's transfers.
  void leave(api::OneSided& group);
  // After the end of the group's client.
  void give_back(int place);
  exec::WaitStyle wait_style() const;
  // Collective over the communicator, of all ranks of MPI_COMM_WORLD, on several nodes; before the
  // servers that TUTTI_SERVERS asks for start. `members`: as above; `in_world`: the ranks there.
  // Makes the endpoints of the node's servers, once.
  void make_endpoints(Comm communicator, const std::vector<int>& members,
                      const std::vector<int>& in_world, int own_rank);
  // The way by which a group hands transfers with other nodes to servers; null if there is none for
  // it. *place is then its place, for leave_handing().
  std::unique_ptr<rma::Handing> handing(int* place);
  void leave_handing(int place);
  // In the node's memory, until end().
  ServersTold servers_told() const { return {&domain().enabled(), &domain().awake()}; }
  // Lets the processes of servers that run now, of all ranks, copy from and into this one.
  void let_servers_copy();

  // Adds what this process did to the report.
  void record();
  // For MPI_Finalize: completes all transfers of this process.
  void end_groups();
  // Then: returns when all ranks have ended their transfers.
  void leave_far_side() { far_side_.leave(); }
  // After that, when this process answers no other one any more.
  void end();
  // For fork: no other thread changes anything from hold() to release(). become_alone() is for the
  // child, before release().
  void hold() { mutex_.lock(); }
  void release() { mutex_.unlock(); }
  void become_alone();

 private:
  void free_all_places();
  void find_domains();
  void find_memory();
  bool make_queues(Team::NodeWords& words);
  void start_at(const std::vector<int32_t>& places);
  void start_in(const rma::ServerSettings& settings);
  bool start_processes(const rma::ServerSettings& settings);
  bool has_servers() const { return threads_ || processes_; }
  void end_servers();
  std::vector<int> units_of_servers() const;
  placement::CoreMask cores_of_ranks() const;
  const rma::Domain& domain() const;
  rma::ServerRange own_servers() const;
  rma::Crew crew(int servers) const;
  int running_servers(const rma::ServerRange& range) const;

  std::shared_ptr<Team> team_;
  const int member_;
  const int members_;
  std::vector<int> domain_of_;  // indexed by member
  int domains_ = 1;
  std::vector<int> units_of_domain_;  // processing units of this process's domain; empty: unknown
  std::vector<rma::Peer> peers_;      // indexed by member
  std::optional<rma::ProcessMover> mover_;
  std::unique_ptr<std::byte[]> own_memory_;  // the domain's memory, if the process has no other
  std::optional<rma::Domain> domain_;
  uint64_t page_ = 0;  // the page of the domain in the node's segment
  bool shares_cores_ = false;
  std::atomic<bool> started_asked_{false};
  std::atomic<bool> makes_endpoints_{false};  // or has made them, or the host permits none

  std::mutex mutex_;  // guards all below
  FarSide far_side_;
  std::optional<rma::ServerThreads> threads_;      // the servers of this process are either these,
  std::optional<rma::ServerProcesses> processes_;  // or these
  std::vector<int32_t> places_;                    // the places of the servers that it has had last
  std::vector<int> units_;                         // where they run; empty: where the ranks do
  bool were_processes_ = false;
  FreePlaces free_places_;  // the client places of this process
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
