#include "mpi/requests/verified_request.h"

#include "base/log.h"
#include "mpi/host/inside.h"
#include "mpi/requests/hosts_requests.h"

namespace tutti::mpi {

void VerifiedRequest::note_start() {
  state_ = State::pending;
  lends_ = served_ != nullptr && served_->lends();
  hosts_ended_ = false;
}

int VerifiedRequest::start() {
  const auto by_host = [&] {
    const Inside inside;
    return host().Start(&served_handle_);
  };
  const int code = served_ != nullptr ? served_->start() : start_by_host(served_handle_, by_host);
  if (code == success) note_start();
  return code;
}

bool VerifiedRequest::is_ready() {
  if (served_ != nullptr) return served_->is_ready() && verify_has_ended(comparison_);
  if (!hosts_ended_) {
    const Inside inside;
    int flag = 0;
    hosts_code_ = host().Test(&served_handle_, &flag, abi.status_ignore);
    hosts_ended_ = flag != 0 || hosts_code_ != success;
  }
  return hosts_ended_ && verify_has_ended(comparison_);
}

int VerifiedRequest::complete() {
  int code = hosts_code_;
  if (served_ != nullptr) {
    code = served_->complete();
  } else if (!hosts_ended_) {
    const Inside inside;
    code = host().Wait(&served_handle_, abi.status_ignore);
  }
  state_ = State::taken;
  return code != success ? code : verify_end(comparison_);
}

bool VerifiedRequest::tell() noexcept {
  state_ = State::idle;
  if (served_ != nullptr ? !served_->tell() : persistent_) return false;
  give_back_handle(handle_);
  delete this;
  return true;
}

int VerifiedRequest::raise_error(const char* what, int code) {
  if (served_ != nullptr) return served_->raise_error(what, code);
  log_line(LogLevel::error, "%s", what);
  return raise(comm_, code);
}

void VerifiedRequest::note_late() {
  if (served_ != nullptr) served_->note_late();
}

// A test of the host's request lets its messages progress.
void VerifiedRequest::drive_host() {
  if (served_ != nullptr) served_->drive_host();
}

void VerifiedRequest::discard() noexcept {
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
