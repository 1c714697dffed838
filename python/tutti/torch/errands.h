// Errands: calls over several nodes, which threads carry out in memory of their own.
//
// A Pending has an errand where it has a request on one node. It copies the result when the errand
// is done, so nothing is written to the program's tensors after the call has been given up.
#pragma once

#include <torch/extension.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>

namespace tutti_torch {

class Errand {
 public:
  // The name is for messages. `give_up` is called if nobody needs the result any more.
  explicit Errand(const char* its_name, std::function<void()> give_up = nullptr)
      : name(its_name), give_up_(std::move(give_up)) {}

  const char* const name;

  // The first end counts, because an abort may come before the thread's.
  void succeed(at::Tensor result, int sender = -1) { end(std::move(result), sender, nullptr); }
  void fail(std::exception_ptr failure) { end({}, -1, std::move(failure)); }

  bool is_done() const { return done_; }
  bool wait_until(std::chrono::steady_clock::time_point moment) {
    std::unique_lock lock(mutex_);
    return ended_.wait_until(lock, moment, [&] { return done_.load(); });
  }
  // Once it is done. Throws its failure.
  const at::Tensor& result() const {
    if (failure_) std::rethrow_exception(failure_);
    return result_;
  }
  int sender() const { return sender_; }
  void abandon() const {
    if (!done_ && give_up_) give_up_();
  }

 private:
  void end(at::Tensor result, int sender, std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (done_) return;
    result_ = std::move(result);
    sender_ = sender;
    failure_ = std::move(failure);
    done_ = true;
    ended_.notify_all();
  }

  const std::function<void()> give_up_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::atomic<bool> done_{false};
  // Constant once it is done.
  at::Tensor result_;
  int sender_ = -1;
  std::exception_ptr failure_;
};

}  // namespace tutti_torch
