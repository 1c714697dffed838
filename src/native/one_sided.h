// One-sided transfers of a team of thread ranks, and its servers. Internal to src/native.
//
// A team has one service at a time: a domain (rma/domain.h) whose clients are the team's ranks, and
// the servers that run in it. Starting or stopping servers makes a new service. A rank changes to
// it at its next one-sided call, after it has completed what is outstanding at the old one; so a
// service lives as long as the team.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "exec/waiter.h"
#include "rma/client.h"
#include "rma/domain.h"
#include "rma/server_threads.h"

namespace tutti::native {

class Service {
 public:
  // `policy` is that of all clients. Throws as rma::ServerThreads.
  Service(int ranks, const rma::ServerThreads::Settings& servers, const rma::Policy& policy);
  Service(const Service&) = delete;

  const rma::Domain& domain() const { return domain_; }
  rma::Mover& mover() { return mover_; }
  const rma::Policy& policy() const { return policy_; }
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
  rma::Policy policy_;
  std::optional<rma::ServerThreads> threads_;
};

// The services of a team. Any thread.
class Services {
 public:
  Services(int ranks, exec::WaitStyle style);

  // Throws Error(invalid_argument) if servers run already, and as Service.
  void start(const rma::ServerThreads::Settings& servers, const rma::Policy& policy);
  void stop();
  int servers();
  Service& now() { return *now_.load(); }
  int ranks() const { return ranks_; }
  exec::WaitStyle style() const { return style_; }

 private:
  const int ranks_;
  const exec::WaitStyle style_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Service>> all_;
  std::atomic<Service*> now_;
};

// A rank's side. One thread at a time.
class OneSided {
 public:
  OneSided(Services& services, int rank);

  // The client of the service of now.
  rma::Client& client();
  // Tells the handles of this rank, and of its present service, from others.
  uint64_t tag() const { return tag_; }

 private:
  Services& services_;
  const int rank_;
  Service* service_ = nullptr;
  std::optional<rma::Client> client_;
  uint64_t tag_ = 0;
};

}  // namespace tutti::native
