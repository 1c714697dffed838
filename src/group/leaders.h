// The interface of collectives among the leaders of a group's nodes. The creator of the group
// implements it: src/mpi by the host MPI's own collectives, tests by threads.
//
// A group calls it if a rule names `hierarchical+host` (algo/by_host.h), and only at ranks that
// lead a node. The index of a leader is its place in algo::leaders. The object is made before the
// group and outlives it; one thread at a time may use it.
#pragma once

#include <cstddef>
#include <string>

#include "exec/executor.h"

namespace tutti::group {

class Leaders {
 public:
  virtual ~Leaders() = default;

  // Each call returns when this leader has its result. False if it failed; failure() then says why.
  // `root` is the index of a leader.
  virtual bool barrier() = 0;
  virtual bool bcast(void* data, size_t bytes, int root) = 0;
  // If in == out, the call is in place. `out` is used at the root only. `count` is in elements of
  // the combination.
  virtual bool reduce(const void* in, void* out, size_t count, const exec::Combine& combine,
                      int root) = 0;
  virtual bool allreduce(const void* in, void* out, size_t count, const exec::Combine& combine) = 0;
  virtual std::string failure() const = 0;
};

}  // namespace tutti::group
