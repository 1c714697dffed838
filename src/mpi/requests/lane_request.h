// A non-blocking collective that runs in a lane (exec/lane.h): on a communicator over several
// nodes, driven by the server of this process while the program computes, and by the calls that
// wait for it or test it. A LaneRequest is one rank's part of it.
//
// A start prepares the operation, issues it and executes the steps that need no wait. The
// completion drives the lane until the operation is over, and unpacks what is not contiguous. The
// objects are never destroyed before MPI ends: a completed one serves another start, with its
// handle. The communicator, its types and its operations may be freed meanwhile. One thread at a
// time may use an object.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "mpi/communicators/communicator.h"
#include "mpi/requests/call_buffers.h"
#include "mpi/requests/own_request.h"

namespace tutti::mpi {

class LaneRequest final : public OwnRequest {
 public:
  // Starts a call on a communicator that has lanes. Returns Reason::none, with an MPI error code in
  // *code, or why the host must make the call. May throw, and has then started nothing.
  static Reason start_call(Communicator& communicator, const Call& call, MPI_Request* request,
                           int* code);

  int start() override;
  bool is_ready() override;
  int complete() override;
  bool tell() noexcept override;
  int raise_error(const char* what, int code) override;
  void note_late() override {}  // the lane looks for ranks that have died or are late
  void drive_host() override;

 private:
  friend void end_lane_requests() noexcept;
  static LaneRequest* take(MPI_Comm comm, int* code);
  void give_back() noexcept;
  Reason describe(Communicator& communicator, const Call& call);
  // Sets the buffers of `made` to those of the call, which are packed into kept_ if need be.
  Reason prepare(const Communicator& communicator, const Call& call, group::Call* made);
  int pack(size_t block, std::byte* to);
  int issue(Communicator& communicator, const group::Call& call);
  void forget() noexcept;
  int finish();
  int unpack();
  MPI_Comm communicator() const;

  MPI_Request handle_{};
  std::shared_ptr<ServedLanes> lanes_;  // null: idle
  group::Lanes::Issued issued_;         // without an operation if the call has no data
  MPI_Comm communicator_{};
  CallBuffers buffers_;
  eager::Operation described_;
  std::vector<std::byte> kept_;  // packed data, until the operation gets it
  std::byte* packed_out_ = nullptr;
  size_t blocks_out_ = 0;
  size_t bytes_ = 0;  // of a block
  plan::Collective collective_{};
  std::chrono::nanoseconds spent_{0};  // on the start, for the report
};

// To be called when MPI ends: destroys the objects that are not under way. Logs the number of those
// that are, which is an error of the program.
void end_lane_requests() noexcept;

}  // namespace tutti::mpi
