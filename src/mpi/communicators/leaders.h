// A HostLeaders object makes the collectives among the leaders of a communicator's nodes
// (group/leaders.h) by the host MPI's own collectives, so that the host may use what its network
// offers. The leaders have a communicator that carries nothing else.
//
// If a rule or a variable names `host` between nodes, the set-up of a communicator over several
// nodes makes one object at every rank. The Communicator owns it, and both end together. Calls
// block inside the host. One thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "placement/periodic_row.h"
#include "group/leaders.h"
#include "mpi/host/host.h"
#include "mpi/host/private_communicator.h"
#include "report/tally.h"

namespace tutti::mpi {

class HostLeaders final : public group::Leaders {
 public:
  // Collective over `among`, which returns errors as codes. `leading` are the leaders' ranks in it,
  // in order. Null at all ranks if the host makes no communicator of them.
  static std::unique_ptr<HostLeaders> make(Comm among, const std::vector<int32_t>& leading);

  // A call that combines must have a combination of Communicator::kernel or HostReduction, because
  // the context of these leads to the host's type and operation.
  bool run(const group::Call& call) override;
  std::string failure() const override { return failure_; }

  // How many collectives this rank has made among the leaders, and the bytes of their vectors.
  const report::Sent& calls() const { return calls_; }

 private:
  explicit HostLeaders(const std::vector<int32_t>& leading) : leading_(leading) {}
  // Each of these calls the host and returns its error code. combine_with_gaps unpacks the elements
  // piece by piece, because the host's operation needs them in the type's layout.
  int move(const group::Call& call);
  int combine_dense(const group::Call& call);
  int combine_with_gaps(const group::Call& call);
  // True if this leader gets the result of the call.
  bool receives(const group::Call& call) const {
    return !plan::rooted(call.collective) || call.root == place_;
  }
  int combine_piece(const group::Call& call, const void* in, void* out, int count);

  const placement::PeriodicRow leading_;
  PrivateCommunicator communicator_;  // the leaders' communicator; null at ranks that lead no node
  // This rank's index among the leaders; -1 if it leads no node. run() must not be called then.
  int place_ = -1;
  report::Sent calls_;
  std::string failure_;
};

}  // namespace tutti::mpi
