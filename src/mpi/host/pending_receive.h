// A receive of a message that this process would send to itself, and does not. Asking the host
// about it makes the host progress on everything else, without any other rank.
//
// A probe would need a communicator with other ranks, because MPICH does not progress while it
// looks for a process's messages to itself. The object owns the communicator of the receive. Any
// thread may call ask; one thread at a time the others.
#pragma once

#include "mpi/host/private_communicator.h"

namespace tutti::mpi {

class PendingReceive {
 public:
  // Receives nothing, and asks nobody.
  PendingReceive() = default;
  explicit PendingReceive(PrivateCommunicator communicator);
  PendingReceive(PendingReceive&& other) noexcept { *this = std::move(other); }
  PendingReceive& operator=(PendingReceive&& other) noexcept {
    std::swap(communicator_, other.communicator_);
    std::swap(request_, other.request_);
    return *this;
  }
  ~PendingReceive() { reset(); }

  // Makes the host progress.
  void ask() const;
  // Ends the receive, if the host's handles may still be freed, and the communicator.
  void reset() noexcept;

 private:
  PrivateCommunicator communicator_;
  Request request_{};
};

}  // namespace tutti::mpi
