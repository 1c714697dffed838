// Servers as threads of this process.
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include "rma/domain.h"
#include "rma/transfer.h"

namespace tutti::rma {

// Runs servers of a domain, which has a place for each, from its
// construction to its destruction. The threads block all signals, so that the program's handlers
// run in its own threads, and are named tutti-server. The domain's memory and the mover outlive
// them. Throws Error(unavailable) if the system refuses a thread.
class ServerThreads {
 public:
  struct Settings {
    int32_t count = 1;
    std::vector<int32_t> places{};  // of the servers in the domain; empty: 0, 1, ...
    // The processing units on which they run. None: those of the thread that starts them.
    std::vector<int> units{};
    // No client uses these units, and there is one for each server, to which it is bound.
    bool own_units = false;
  };
  ServerThreads(const Domain& domain, Mover& mover, const Settings& settings);
  // Stops them. All that was handed over before is done then.
  ~ServerThreads();
  ServerThreads(const ServerThreads&) = delete;

  int32_t count() const { return static_cast<int32_t>(threads_.size()); }

 private:
  void stop_all();

  const Domain domain_;
  const int made_by_;  // the process that has the threads
  std::vector<int32_t> places_;
  std::vector<std::thread> threads_;
};

}  // namespace tutti::rma
