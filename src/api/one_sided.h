// One-sided transfers of a rank, and the servers of a team of thread ranks.
//
// A team of threads has one service at a time: a domain (rma/domain.h) whose clients are the team's
// ranks, and the servers that run in it. Starting or stopping servers makes a new service. A rank
// changes to it at its next one-sided call, after it has completed what is outstanding at the old
// one; so a service lives as long as the team. Ranks that are processes have a NearSide instead.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "exec/waiter.h"
#include "rma/client.h"
#include "rma/domain.h"
#include "rma/far_ranks.h"
#include "rma/process_mover.h"
#include "rma/saturation.h"
#include "rma/server_threads.h"
#include "tutti/tutti.h"

namespace tutti::api {

class Service {
 public:
  // Servers get transfers of at least `least_bytes`. Throws as rma::ServerThreads.
  Service(int ranks, const rma::ServerSettings& servers, uint64_t least_bytes);
  Service(const Service&) = delete;

  const rma::Domain& domain() const { return domain_; }
  rma::Mover& mover() { return mover_; }
  uint64_t least_bytes() const { return least_bytes_; }
  rma::Crew crew() const {
    return {.clients = domain_.shape().clients, .servers = domain_.shape().servers};
  }
  int servers() const { return threads_ ? threads_->count() : 0; }
  void stop() { threads_.reset(); }

 private:
  struct FreeAligned {
    void operator()(std::byte* memory) const {
      operator delete[](memory, std::align_val_t{line_size});
    }
  };
  std::unique_ptr<std::byte[], FreeAligned> memory_;
  rma::Domain domain_;
  rma::MemoryMover mover_;
  const uint64_t least_bytes_;
  std::optional<rma::ServerThreads> threads_;
};

// The services of a team. Any thread.
class Services {
 public:
  Services(int ranks, exec::WaitStyle style);

  // Throws Error(invalid_argument) if servers run already, and as Service.
  void start(const rma::ServerSettings& servers, uint64_t least_bytes);
  void stop();
  // Lets ranks give transfers to the servers, or forbids it.
  void enable(bool enabled);
  int servers();
  Service& now() { return *now_.load(); }
  int ranks() const { return ranks_; }
  exec::WaitStyle style() const { return style_; }
  // The least bytes of a transfer that a server may get now; UINT64_MAX: none gets any.
  const shm::Word& served_from() const { return served_from_; }
  // How a rank reaches the others.
  const rma::Peer& memory() const { return memory_; }

 private:
  void tell();

  const rma::Peer memory_ = rma::own_memory;
  shm::Word served_from_{UINT64_MAX};
  const int ranks_;
  const exec::WaitStyle style_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Service>> all_;
  std::atomic<Service*> now_;
};

// A rank's side. One thread at a time.
class OneSided {
 public:
  // The one-sided resources of a group of processes. The domain's memory and the mover outlive it.
  struct Processes {
    std::vector<rma::Peer> peers;  // indexed by rank of the group
    std::vector<int> targets;      // indexed by rank: the number by which the mover knows it
    const shm::Word* served_from = nullptr;
    rma::Crew crew;                 // the node's crew, apart from the number of servers
    rma::Extent heap{};             // this rank's heap
    exec::ProgressHook progress{};  // for waits for other ranks
    exec::WaitStyle style{};
    // For waits for signals that may never come: names ranks that have ended, as "rank 1 has
    // ended"; empty: there are none. Null where the launcher then ends the job.
    std::function<std::string()> find_ended{};
    std::unique_ptr<rma::Client> client;
  };

  // The side of a thread rank.
  OneSided(Services& services, int rank);
  explicit OneSided(Processes processes);
  OneSided(const OneSided&) = delete;

  // The client of the service of now. Throws Error(unavailable) after end().
  rma::Client& client();
  // Tells the handles of this rank, and of its present service, from others.
  uint64_t tag() const { return tag_; }

  // Returns the address of `bytes` bytes of a rank in this process; null if they are not mapped
  // here.
  std::byte* here(int rank, const void* address, size_t bytes) const {
    return peer(rank).here(reinterpret_cast<uint64_t>(address), bytes);
  }
  // True if no server gets a transfer of so many bytes now. It is then all that its caller needs to
  // know.
  bool executes(size_t bytes) const { return bytes < shm::load_relaxed(*served_from_); }

  const rma::Peer& peer(int rank) const { return peers_[mask_ & static_cast<size_t>(rank)]; }
  // Returns the memory of this rank in which it waits for signals: a process's heap.
  rma::Extent own_heap() const {
    return services_ == nullptr ? own_heap_ : rma::Extent{peers_->first, peers_->bytes};
  }
  // Returns the number by which the client's mover knows a rank.
  int target(int rank) const { return mask_ == 0 ? rank : targets_[static_cast<size_t>(rank)]; }

  // Transfers with ranks of other nodes; null if there are none, and after end().
  rma::FarRanks* far() const { return far_; }
  // Transfers with the ranks whose Peer is elsewhere go to `far`, which outlives this object.
  void reach_far(rma::FarRanks& far) { far_ = &far; }

  // Throws Error(unavailable) after end().
  void require_begun() const;
  // Returns when the word, to which puts signal, is at least `least`. Not after end().
  rma::Outcome wait_for_signal(const shm::Word& signal, uint64_t least) const;
  // So many transfers may be outstanding at each server.
  size_t most_outstanding() const;

  // MPI ends, or this is a forked child: no rank is reached any more. Not of a thread rank.
  void end();
  void become_alone();

  // The transfers of a rank in a group of processes so far.
  struct Counts {
    uint64_t own = 0;         // transfers that this rank has executed at once
    uint64_t handed = 0;      // transfers that it has handed to servers
    uint64_t taken_back = 0;  // those of them that it has executed after all
  };
  void add_to(Counts& counts) const;
  void count_copy() { ++copied_; }

 private:
  // First what each transfer reads. Threads reach each other alike, so they share one Peer.
  const rma::Peer* peers_;
  size_t mask_;  // a mask for ranks: 0 for threads
  const shm::Word* served_from_;
  uint64_t copied_ = 0;  // short transfers that went nowhere else

  Services* services_ = nullptr;  // null of a process
  const int rank_ = 0;
  Service* service_ = nullptr;
  std::optional<rma::Client> client_;
  uint64_t tag_ = 0;

  // A process's:
  std::vector<rma::Peer> own_peers_;
  std::vector<int> targets_;
  std::unique_ptr<rma::Client> process_client_;
  rma::FarRanks* far_ = nullptr;
  rma::Crew crew_;
  rma::Extent own_heap_;
  exec::ProgressHook progress_;
  exec::WaitStyle style_{};
  std::function<std::string()> find_ended_;
  uint64_t policy_is_for_ = UINT64_MAX;  // the value of *served_from_
  Counts ended_;                         // the counts of the client that has ended
};

}  // namespace tutti::api
