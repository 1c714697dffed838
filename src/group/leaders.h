// The interface of collectives among the leaders of a group's nodes. The creator of the group
// implements it: src/mpi by the host MPI's own collectives, tests by threads.
//
// A group calls it if a rule names `hierarchical+host` (algo/by_host.h), and only at ranks that
// lead a node. The index of a leader is its place in algo::leaders. The object is made before the
// group and outlives it; one thread at a time may use it.
#pragma once

#include <string>

#include "group/call.h"

namespace tutti::group {

class Leaders {
 public:
  virtual ~Leaders() = default;

  // Runs a barrier, a bcast, a reduce or an allreduce among the leaders. The call's root is the
  // index of a leader; in == out if the call is in place. Returns when this leader has its result,
  // or false if the call failed; failure() then says why.
  virtual bool run(const Call& call) = 0;
  virtual std::string failure() const = 0;
};

}  // namespace tutti::group
