// The leaders of a group's nodes, and the collective among them that is not Tutti's: of whoever
// makes the group (src/mpi over the host MPI's own collectives; tests over threads).
//
// A group asks it where a rule says `hierarchical+host` (algo/by_host.h), at ranks that lead a node
// and at no others; leaders stand in the order of algo::leaders. Made before the group and outlives
// it; one thread at a time.
#pragma once

#include <cstddef>
#include <string>

#include "exec/executor.h"

namespace tutti::group {

class Leaders {
 public:
  virtual ~Leaders() = default;

  // Each returns when this leader has its result. False where it failed; failure() says why. `root`
  // is a leader's place.
  virtual bool barrier() = 0;
  virtual bool bcast(void* data, size_t bytes, int root) = 0;
  // in == out: in place. `out` matters at the root only. Elements are those that the operation's
  // caller combines by.
  virtual bool reduce(const void* in, void* out, size_t count, const exec::Combine& combine,
                      int root) = 0;
  virtual bool allreduce(const void* in, void* out, size_t count, const exec::Combine& combine) = 0;
  virtual std::string failure() const = 0;
};

}  // namespace tutti::group
