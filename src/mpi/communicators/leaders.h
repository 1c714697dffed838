// The leaders of a communicator's nodes, who exchange by the host MPI's own collectives
// (group/leaders.h) on a communicator that carries nothing else, so that the host may use what its
// network offers.
//
// One object a communicator over several nodes, at all its ranks, made by its set-up where some
// rule or variable names `host` between nodes, and ended with it. Calls block inside the host. One
// thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "placement/periodic_row.h"
#include "group/leaders.h"
#include "mpi/abi/host.h"

namespace tutti::mpi {

class HostLeaders final : public group::Leaders {
 public:
  // Collective over `among`, whose errors come back as codes; `leading` are the leaders' ranks in
  // it, in order. Null at all ranks where the host makes no communicator of them.
  static std::unique_ptr<HostLeaders> make(MPI_Comm among, const std::vector<int32_t>& leading);
  ~HostLeaders() override;
  HostLeaders(const HostLeaders&) = delete;

  bool barrier() override;
  bool bcast(void* data, size_t bytes, int root) override;
  bool reduce(const void* in, void* out, size_t count, const exec::Combine& combine,
              int root) override;
  bool allreduce(const void* in, void* out, size_t count, const exec::Combine& combine) override;
  std::string failure() const override { return failure_; }

  // The host's collectives that this rank has taken part in, a call of Tutti's each.
  struct Calls {
    uint64_t calls = 0, bytes = 0;
  };
  const Calls& calls() const { return calls_; }

 private:
  explicit HostLeaders(const std::vector<int32_t>& leading) : leading_(leading) {}
  // The whole call: `by_host` returns the host's error code.
  template <class ByHost>
  bool call(plan::Collective collective, size_t bytes, int root, ByHost&& by_host);
  int combine_dense(const void* in, void* out, size_t count, const exec::Combine& combine,
                    int root);
  // Packed elements of a type with gaps, which the host's operation knows only in their own layout.
  int combine_with_gaps(const void* in, void* out, size_t count, const exec::Combine& combine,
                        int root);
  int combine_piece(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root);

  static constexpr int everywhere = -1;  // in the place of a root
  const placement::PeriodicRow leading_;
  MPI_Comm communicator_ = host().comm_null;
  int place_ = -1;
  Calls calls_;
  std::string failure_;
};

}  // namespace tutti::mpi
