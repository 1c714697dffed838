// The program's request where more is to be done than to serve the call: its buffers are in a GPU's
// memory, and the call is made with copies of them (collectives/staged.h), or the ranks compare
// their calls (tutti-run --verify), beside the call. It has the request that serves the call, of
// Tutti's or of the host's. A start fetches the program's data, and a completion brings the results
// back and judges the comparison.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/gpu.h"
#include "mpi/collectives/staged.h"
#include "mpi/collectives/verify.h"
#include "mpi/requests/own_request.h"

namespace tutti::mpi {

class WrappedRequest final : public OwnRequest {
 public:
  // Makes the request of a call: make(CALL, REQUEST) makes it for any buffers, and starts it unless
  // the call is persistent. The request is that one if nothing more is to be done. The host makes
  // the call as the program made it; also if a tool hides the call. Returns an MPI error code,
  // which has been raised. May throw.
  template <class Make>
  static int make(const Call& call, Comm comm, bool persistent, Request* request, Make&& make) {
    if (gpu::is_ruled_out() && !verifies_calls) [[likely]]
      return make(call, request);
    return wrap(call, comm, persistent, request,
                [&](const Call& served, Request* place) { return make(served, place); });
  }
  ~WrappedRequest() = default;

  bool is_ready() override;
  int complete() override;
  bool tell() noexcept override;
  Comm communicator() const override;
  void note_late() override;
  void drive_host() override;
  bool is_persistent() const override { return persistent_; }
  void discard() noexcept override;

 private:
  using Make = std::function<int(const Call& call, Request* request)>;
  static int wrap(const Call& call, Comm comm, bool persistent, Request* request, const Make& make);
  WrappedRequest(Comm comm, bool persistent) : comm_(comm), persistent_(persistent) {}
  int start_round() override;
  void note_start();

  const Comm comm_;
  const bool persistent_;
  uint64_t comparison_ = 0;           // 0: calls are not compared
  std::unique_ptr<StagedCall> call_;  // null: no buffer is in a GPU's memory
  Request handle_{}, served_handle_{};
  OwnRequest* served_ = nullptr;  // null: the host serves it
  bool hosts_ended_ = false;      // a test has found that, with this code
  int hosts_code_ = success;
};

}  // namespace tutti::mpi
