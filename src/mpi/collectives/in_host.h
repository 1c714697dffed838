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
  // `no`: the host or Tutti runs something before the call itself, which is told instead of that.
  // `nothing`: Tutti compares the call with those of other ranks, which counts as no call.
  enum class Counts : uint8_t { no, yes, nothing };

  InHost(const Call& its_call, Comm its_communicator, Counts counts = Counts::yes)
      : call(its_call), communicator(its_communicator), outer_(current), counts_(counts) {
    if (outer_ == nullptr || outer_->counts_ == Counts::yes) current = this;
  }
  ~InHost() {
    current = outer_;
    if (counts_ == Counts::nothing) return;
    // With Counts::no something was counted that is no call of the program's.
    shm::store_relaxed(ended, shm::load_relaxed(ended) + (counts_ == Counts::yes ? 1 : -1));
  }
  InHost(const InHost&) = delete;

  const Call& call;
  const Comm communicator;
  static inline constinit TUTTI_PER_THREAD const InHost* current = nullptr;
  static inline constinit TUTTI_PER_THREAD shm::Word ended{0};

 private:
  const InHost* const outer_;
  const Counts counts_;
};

}  // namespace tutti::mpi
