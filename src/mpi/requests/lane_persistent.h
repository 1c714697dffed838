// A persistent collective on a communicator over several nodes (lane_request.h). It has a lane of
// its own, because ranks may start their persistent collectives in different orders
// (communicators/persistent_lanes.h), and each start issues one operation to it.
//
// The call that makes it chooses and binds its program, so a start only packs data and issues. The
// object lives until the program frees the request, or, if it does not, for ever. Any thread may
// start it, one at a time.
#pragma once

#include <memory>

#include "mpi/communicators/persistent_lanes.h"
#include "mpi/requests/lane_request.h"

namespace tutti::mpi {

class LanePersistent final : public LaneRequest {
 public:
  // Makes the request of a call on a communicator that has lanes. Collective. Returns Reason::none,
  // or why the host must make it, at all ranks alike. May throw.
  static Reason make(Communicator& communicator, const Call& call, Request* request);

  ~LanePersistent() { forget(); }
  bool is_persistent() const override { return true; }
  void discard() noexcept override { delete this; }

 private:
  LanePersistent() = default;
  void ended() noexcept override {}
  Reason prepare(Communicator& communicator);
  int start_round() override;

  PersistentLanes::Lease lease_;
  group::Group::Prepared prepared_;
  // The combination of prepared_; the communicator may end before the request.
  exec::Combine combine_;
};

// Sets *reason to what Communicator::find_records says, for a call that makes a persistent request.
// MPI lets that call wait, and the request stays with whoever makes it. So if there are servers, a
// communicator that may be over several nodes and has not set up sets up first. Returns an MPI
// error code, which has been raised. May throw.
int find_for_request(Communicator& communicator, const Call& call, Reason between_nodes,
                     Reason* reason);

}  // namespace tutti::mpi
