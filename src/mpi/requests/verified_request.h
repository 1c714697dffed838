// Requests of collectives that the ranks compare (tutti-run --verify). A VerifiedRequest is the
// program's request; it has the one that serves the call, of Tutti's or of the host's, and the
// comparison, which runs beside the call and is judged when the call completes.
#pragma once

#include <cstdint>
#include <memory>

#include "mpi/collectives/verify.h"
#include "mpi/host/host.h"
#include "mpi/job/thrown.h"
#include "mpi/requests/own_request.h"

namespace tutti::mpi {

class VerifiedRequest final : public OwnRequest {
 public:
  // Makes the request of a call by make(REQUEST), and begins the comparison before, if calls are
  // compared. Returns an MPI error code, which has been raised. May throw.
  template <class Make>
  static int make(const Call& call, Comm comm, bool persistent, Request* request, Make&& make) {
    if (!verifies_calls) return make(request);
    uint64_t comparison = 0;
    if (const int code = verify_start(call, comm, &comparison); code != success) return code;
    std::unique_ptr<VerifiedRequest, Discard> made(
        new VerifiedRequest(comm, comparison, persistent));
    if (const int code = take_handle(made.get(), &made->handle_); code != success)
      return raise(comm, code);
    const int code = make(&made->served_handle_);
    if (code != success) {
      give_back_handle(made->handle_);
      return code;
    }
    made->served_ = own_request(made->served_handle_);
    if (!persistent) made->note_start();
    *request = made->handle_;
    (void)made.release();  // the handle's table finds it
    return success;
  }

  int start() override;
  bool is_ready() override;
  int complete() override;
  bool tell() noexcept override;
  int raise_error(const char* what, int code) override;
  void note_late() override;
  void drive_host() override;
  bool is_persistent() const override { return persistent_; }
  void discard() noexcept override;

 private:
  struct Discard {
    void operator()(VerifiedRequest* made) const { delete made; }
  };
  VerifiedRequest(Comm comm, uint64_t comparison, bool persistent)
      : comm_(comm), comparison_(comparison), persistent_(persistent) {}
  ~VerifiedRequest() = default;
  void note_start();

  const Comm comm_;
  const uint64_t comparison_;
  const bool persistent_;
  Request handle_{}, served_handle_{};
  OwnRequest* served_ = nullptr;  // null: the host serves it
  bool hosts_ended_ = false;      // a test has found that, with this code
  int hosts_code_ = success;
};

}  // namespace tutti::mpi
