// A non-blocking collective on a communicator over several nodes (lane_request.h). All ranks start
// them in one order, and the communicator's lanes take them in turn.
//
// The objects are never destroyed before MPI ends: a completed one serves another start, with its
// handle (request_pool.h).
#pragma once

#include "mpi/requests/lane_request.h"
#include "mpi/requests/request_pool.h"

namespace tutti::mpi {

class LaneNonblocking final : public LaneRequest {
 public:
  // Starts a call on a communicator that has lanes. Returns Reason::none, with an MPI error code in
  // *code, or why the host must make the call. May throw, and has then started nothing.
  static Reason start_call(Communicator& communicator, const Call& call, Request* request,
                           int* code);

  bool tell() noexcept override;

 private:
  using Pool = RequestPool<LaneNonblocking>;
  friend Pool;
  LaneNonblocking() = default;
  ~LaneNonblocking() = default;
  void ended() noexcept override { forget(); }
  Reason try_to_start(Communicator& communicator, const Call& call);

  Request handle_{};
};

// Call it when MPI ends: destroys the objects that are not under way. Logs the number of those that
// are, which is an error of the program.
void end_lane_requests() noexcept;

}  // namespace tutti::mpi
