// Requests of collectives whose buffers are in a GPU's memory (collectives/staged.h). A
// StagedRequest is the program's request; it has the one that serves the copies. A start fetches
// the program's data, and a completion brings the results back.
#pragma once

#include <memory>

#include "base/gpu.h"
#include "mpi/collectives/general.h"
#include "mpi/collectives/staged.h"
#include "mpi/job/thrown.h"
#include "mpi/requests/own_request.h"

namespace tutti::mpi {

class StagedRequest final : public OwnRequest {
 public:
  // Makes the request of a call, with copies of its buffers if they are in a GPU's memory:
  // make(CALL, REQUEST) makes it for any buffers, and starts it unless the call is persistent. The
  // host makes the call as the program made it, and the request is then the host's; also if a tool
  // hides the call. Returns an MPI error code, which has been raised. May throw.
  template <class Make>
  static int make(const Call& call, Comm comm, bool persistent, Request* request, Make&& make) {
    if (gpu::is_ruled_out()) [[likely]]
      return make(call, request);
    // Calls that begin persistent operations were looked at before.
    if (!persistent && is_hidden(call)) return call_host(call, comm, request);
    std::unique_ptr<StagedCall> staged = gpu::look() ? StagedCall::of(call, comm) : nullptr;
    if (staged == nullptr) return make(call, request);
    std::unique_ptr<StagedRequest, Discard> made(new StagedRequest(std::move(staged)));
    Request handle{}, served = host().request_null;
    if (const int code = take_handle(made.get(), &handle); code != success)
      return raise(comm, code);
    if (!persistent) made->call_->fetch();
    const int code = make(made->call_->call(), &served);
    made->served_ = own_request(served);
    if (code != success || made->served_ == nullptr) {
      give_back_handle(handle);
      if (code == success) *request = served;
      return code;
    }
    made->hand_over(handle, served);
    (void)made.release();  // the handle's table finds it
    *request = handle;
    return code;
  }

  int start() override;
  bool is_ready() override { return served_->is_ready(); }
  int complete() override;
  bool tell() noexcept override;
  int raise_error(const char* what, int code) override { return served_->raise_error(what, code); }
  void note_late() override { served_->note_late(); }
  void drive_host() override { served_->drive_host(); }
  bool is_persistent() const override { return served_->is_persistent(); }
  void discard() noexcept override;

 private:
  struct Discard {
    void operator()(StagedRequest* made) const { delete made; }
  };
  explicit StagedRequest(std::unique_ptr<StagedCall> call) : call_(std::move(call)) {}
  ~StagedRequest() = default;
  void hand_over(Request own, Request served) noexcept;

  std::unique_ptr<StagedCall> call_;
  OwnRequest* served_ = nullptr;
  Request handle_{}, served_handle_{};
};

}  // namespace tutti::mpi
