#include "mpi/requests/staged_request.h"

namespace tutti::mpi {

void StagedRequest::hand_over(Request own, Request served) noexcept {
  handle_ = own;
  served_handle_ = served;
  state_ = served_->state();
  lends_ = served_->lends();
}

int StagedRequest::start() {
  if (served_->state() == State::idle) call_->fetch();
  const int code = served_->start();
  state_ = served_->state();
  lends_ = served_->lends();
  return code;
}

int StagedRequest::complete() {
  const int code = served_->complete();
  state_ = State::taken;
  if (call_->bring_back() || code != success) return code;
  return served_->raise_error("the results of a collective could not be copied to the GPU",
                              abi.err_other);
}

bool StagedRequest::tell() noexcept {
  state_ = State::idle;
  if (!served_->tell()) return false;
  give_back_handle(handle_);
  delete this;
  return true;
}

void StagedRequest::discard() noexcept {
  give_back_handle(served_handle_);
  served_->discard();
  delete this;
}

}  // namespace tutti::mpi
