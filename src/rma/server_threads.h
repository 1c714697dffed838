// Servers as threads of this process.
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include "rma/domain.h"
#include "rma/server_settings.h"
#include "rma/transfer.h"

namespace tutti::rma {

// Runs servers of a domain, which has a place for each, from its construction to its destruction.
// The threads block all signals, so that the program's handlers run in its own threads, and are
// named tutti-server. The domain's memory and the mover outlive them.
class ServerThreads {
 public:
  // Throws Error(unavailable) if the system refuses a thread, and Error(invalid_argument) if the
  // domain has too few free places. Places that the caller has claimed stay claimed then.
  ServerThreads(const Domain& domain, Mover& mover, const ServerSettings& settings);
  // Stops them. All that was handed over before is done then.
  ~ServerThreads();
  ServerThreads(const ServerThreads&) = delete;

  int32_t count() const { return static_cast<int32_t>(threads_.size()); }

 private:
  void stop_all();

  const Domain domain_;
  const int made_by_;  // the process that has the threads
  std::vector<Started> started_;
  std::vector<std::thread> threads_;
};

}  // namespace tutti::rma
