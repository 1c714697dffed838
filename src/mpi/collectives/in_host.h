// The collective that a thread has left to the host MPI, for the roll call (mpi/roll): which call
// it is, and how many it has left to the host before.
//
// An object lives on the stack of the calling thread for as long as the host's function runs. Only
// that thread reads it, also in the handler of a signal; so it needs no lock.
#pragma once

#include "mpi/collectives/call.h"
#include "shm/order.h"

namespace tutti::mpi {

class InHost {
 public:
  InHost(const Call& its_call, Comm its_communicator)
      : call(its_call), communicator(its_communicator), outer_(current) {
    current = this;
  }
  ~InHost() {
    current = outer_;
    shm::count_own(ended);
  }
  InHost(const InHost&) = delete;

  const Call& call;
  const Comm communicator;
  static inline constinit TUTTI_PER_THREAD const InHost* current = nullptr;
  static inline constinit TUTTI_PER_THREAD shm::Word ended{0};

 private:
  const InHost* const outer_;
};

}  // namespace tutti::mpi
