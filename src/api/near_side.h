// The side of a rank that faces its node: its way to the other ranks' memory, the queues to the
// node's servers, and the servers that it has started. The ranks are processes of an MPI job
// (mpi/one_sided/node.h), or those of a team without MPI (processes.h).
//
// The node's queues are one rma::Domain in the segment of the ranks' team, which the first rank
// makes that needs it. Each rank has a few client places in it, one for each of its groups. A node
// has one or more domains of servers (TUTTI_SERVERS_DOMAIN); the servers of a domain have
// consecutive places, and clients use those of their own.
//
// The team outlives it, or end() comes before. Any thread; its user's lock guards start_servers(),
// stop_servers(), processes(), latest() and end().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "api/one_sided.h"
#include "placement/cores.h"
#include "rma/domain.h"
#include "rma/process_mover.h"
#include "rma/server_processes.h"
#include "rma/server_threads.h"
#include "team/node_team.h"
#include "tutti/tutti.h"

namespace tutti::api {

class NearSide {
 public:
  struct Settings {
    team::NodeTeam* team = nullptr;  // null: the rank reaches no memory but its own
    int groups = 1;                  // so many groups of each rank have queues at a time
    int far_groups = 0;              // so many more of each hand transfers with other nodes over
  };
  explicit NearSide(const Settings& settings);
  ~NearSide();
  NearSide(const NearSide&) = delete;

  int member() const { return member_; }    // this rank's number in the team
  int members() const { return members_; }  // 1 without a team
  int domain_of(int member) const { return domain_of_[static_cast<size_t>(member)]; }
  const std::vector<rma::Peer>& peers() const { return peers_; }  // indexed by member
  exec::WaitStyle wait_style() const;
  // False: no server can be started, and groups execute all transfers themselves.
  bool has_queues() const { return domain().shape().servers > 0; }
  // Throws Error(unavailable) after end().
  const rma::Domain& domain() const;
  // The servers of this rank's domain.
  rma::ServerRange own_servers() const;

  // The parts of the group of these members, in which this one is `own_rank`. `place`: the group's
  // among those of this rank; -1: it has no queues, and executes all transfers itself.
  OneSided::Processes processes(const std::vector<int>& members, int own_rank, int place);

  // The functions of the C API. Servers get these endpoints, in the order of their numbers. Throws
  // Error if this rank has servers, or if the domain has no room for so many.
  void start_servers(int count, tutti_serve serve, std::vector<rma::Endpoint*> endpoints);
  void stop_servers();
  void enable_servers(bool enabled);
  void keep_servers_awake(bool awake);
  int count_servers();

  // The servers that this rank has had last.
  struct Servers {
    std::vector<int32_t> places;
    std::vector<int> units;  // where they run; empty: where the ranks do
    bool are_processes = false;
    bool share_cores = false;
  };
  const Servers& latest() const { return latest_; }
  // Lets the processes of servers that run now, of all ranks, copy from and into this one.
  void let_servers_copy();

  // Ends this rank's servers. No group uses it any more.
  void end();
  // In a forked child: this process reaches no rank any more, except its own.
  void become_alone() { rma::forget_others(peers_); }

 private:
  void find_domains();
  void find_memory();
  bool make_queues(const rma::DomainShape& shape);
  void start_at(const std::vector<int32_t>& places, std::vector<rma::Endpoint*> endpoints);
  void start_in(const rma::ServerSettings& settings);
  bool start_processes(const rma::ServerSettings& settings);
  void end_servers();
  std::vector<int> units_of_servers() const;
  placement::CoreMask cores_of_ranks() const;
  rma::Crew crew(int servers) const;
  int running_servers(const rma::ServerRange& range) const;

  team::NodeTeam* team_;
  const int groups_;
  const int member_;
  const int members_;
  std::vector<int> domain_of_;  // indexed by member
  int domains_ = 1;
  std::vector<int> units_of_domain_;  // processing units of this rank's domain; empty: unknown
  std::vector<rma::Peer> peers_;
  std::optional<rma::ProcessMover> mover_;
  std::unique_ptr<std::byte[]> own_memory_;  // the domain's memory, if the rank has no other
  std::optional<rma::Domain> domain_;
  uint64_t page_ = 0;  // the page of the domain in the node's segment

  std::optional<rma::ServerThreads> threads_;      // the servers of this rank are either these,
  std::optional<rma::ServerProcesses> processes_;  // or these
  Servers latest_;
};

}  // namespace tutti::api
