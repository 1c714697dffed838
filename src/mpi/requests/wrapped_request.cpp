#include "mpi/requests/wrapped_request.h"

#include "mpi/collectives/general.h"
#include "mpi/host/inside.h"
#include "mpi/job/thrown.h"
#include "mpi/requests/hosts_requests.h"

namespace tutti::mpi {

// Calls that begin persistent operations were looked at before whether a tool hides them.
int WrappedRequest::wrap(const Call& call, Comm comm, bool persistent, Request* request,
                         const Make& make) {
  const bool may_be_on_gpu = !gpu::is_ruled_out();
  const bool hidden = may_be_on_gpu && !persistent && is_hidden(call);
  const auto make_served = [&](const Call& readable, Request* place) {
    return hidden ? call_host(call, comm, place) : make(readable, place);
  };
  std::unique_ptr<WrappedRequest> made(new WrappedRequest(comm, persistent));
  if (verifies_calls)
    if (const int code = verify_start(call, comm, &made->comparison_); code != success) return code;
  if (may_be_on_gpu && !hidden && gpu::look()) made->call_ = StagedCall::of(call, comm);
  if (made->call_ == nullptr && !verifies_calls) return make_served(call, request);
  if (const int code = take_handle(made.get(), &made->handle_); code != success)
    return raise(comm, code);
  if (made->call_ != nullptr && !persistent) made->call_->fetch();
  made->served_handle_ = host().request_null;
  const int code =
      make_served(made->call_ != nullptr ? made->call_->call() : call, &made->served_handle_);
  made->served_ = own_request(made->served_handle_);
  if (made->served_ == nullptr) made->call_.reset();
  if (code != success || (made->served_ == nullptr && !verifies_calls)) {
    give_back_handle(made->handle_);
    if (code == success) *request = made->served_handle_;
    return code;
  }
  if (!persistent) made->note_start();
  *request = made->handle_;
  (void)made.release();  // the handle's table finds it
  return success;
}

void WrappedRequest::note_start() {
  state_ = served_ != nullptr ? served_->state() : State::pending;
  lends_ = served_ != nullptr && served_->lends();
  hosts_ended_ = false;
}

int WrappedRequest::start_round() {
  if (call_ != nullptr) call_->fetch();
  const auto by_host = [&] {
    const Inside inside;
    return host().Start(&served_handle_);
  };
  const int code = served_ != nullptr ? served_->start() : start_by_host(served_handle_, by_host);
  if (served_ != nullptr || code == success) note_start();
  return code;
}

bool WrappedRequest::is_ready() {
  if (served_ == nullptr && !hosts_ended_) {
    const Inside inside;
    int flag = 0;
    hosts_code_ = host().Test(&served_handle_, &flag, abi.status_ignore);
    hosts_ended_ = flag != 0 || hosts_code_ != success;
  }
  const bool has_ended = served_ != nullptr ? served_->is_ready() : hosts_ended_;
  return has_ended && (comparison_ == 0 || verify_has_ended(comparison_));
}

int WrappedRequest::complete() {
  int code = hosts_code_;
  if (served_ != nullptr) {
    code = served_->complete();
  } else if (!hosts_ended_) {
    const Inside inside;
    code = host().Wait(&served_handle_, abi.status_ignore);
  }
  state_ = State::taken;
  if (call_ != nullptr && !call_->bring_back() && code == success)
    code = raise_error("the results of a collective could not be copied to the GPU", abi.err_other);
  return code != success || comparison_ == 0 ? code : verify_end(comparison_);
}

bool WrappedRequest::tell() noexcept {
  state_ = State::idle;
  if (served_ != nullptr ? !served_->tell() : persistent_) return false;
  give_back_handle(handle_);
  delete this;
  return true;
}

Comm WrappedRequest::communicator() const {
  return served_ != nullptr ? served_->communicator() : comm_;
}

void WrappedRequest::note_late() {
  if (served_ != nullptr) served_->note_late();
}

// A test of the host's request lets its messages progress.
void WrappedRequest::drive_host() {
  if (served_ != nullptr) served_->drive_host();
}

void WrappedRequest::discard() noexcept {
  if (served_ != nullptr) {
    give_back_handle(served_handle_);
    served_->discard();
  } else {
    forget_hosts_request(served_handle_);
    const Inside inside;
    host().Request_free(&served_handle_);
  }
  delete this;
}

}  // namespace tutti::mpi
