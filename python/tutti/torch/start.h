// Starts: a call's buffers and requests become a Work.
//
// A Backend has one Calls as long as it lives. A Start is a value of the thread that makes the
// call.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/extension.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "arguments.h"
#include "tutti/tutti.h"
#include "works.h"

namespace tutti_torch {

// The calls of a group, in the order of their starts. Any thread may start one.
class Calls {
 public:
  using Options = c10::intrusive_ptr<c10d::Backend::Options>;
  Calls(std::shared_ptr<Group> its_group, int its_rank, Options its_options)
      : group(std::move(its_group)), rank(its_rank), options(std::move(its_options)) {}

  const std::shared_ptr<Group> group;
  const int rank;
  const Options options;  // the timeout of calls that give none

  // The collectives that this rank has started. Messages do not count, so ranks that have started
  // the same collectives have the same number.
  uint64_t number() const { return number_; }

  // From now on calls are collected, until the end gives them back.
  void start_collecting() {
    const std::lock_guard lock(starting_);
    collected_.clear();
    collecting_ = true;
  }
  std::vector<std::shared_ptr<Pending>> end_collecting() {
    const std::lock_guard lock(starting_);
    TORCH_CHECK(collecting_, "tutti: endCoalescing without startCoalescing");
    collecting_ = false;
    return std::exchange(collected_, {});
  }

 private:
  friend class Start;

  // The caller holds starting_.
  void note(const std::shared_ptr<Pending>& pending) {
    if (collectives_.size() >= most_collectives_) {
      std::erase_if(collectives_, [](const std::weak_ptr<Pending>& one) {
        const auto its = one.lock();
        return its == nullptr || its->is_done();
      });
      most_collectives_ = std::max(least_swept, 2 * collectives_.size());
    }
    collectives_.push_back(pending);
  }

  std::mutex starting_;  // guards the order of starts, and the three that follow
  std::vector<std::shared_ptr<Pending>> collected_;
  // Those that may not be complete; swept when there are so many.
  std::vector<std::weak_ptr<Pending>> collectives_;
  static constexpr size_t least_swept = 16;
  size_t most_collectives_ = least_swept;
  std::atomic<uint64_t> number_{0};
  std::atomic<bool> collecting_{false};
};

// A call that is being started: its buffers and its requests. If an argument is refused, what was
// started before goes to the helper thread.
class Start {
 public:
  Start(Calls& calls, Milliseconds timeout) : calls_(calls), pending_(std::make_shared<Pending>()) {
    calls.group->require_own();
    pending_->group = calls.group;
    pending_->timeout = timeout < Milliseconds(0) ? calls.options->timeout : timeout;
    pending_->deadline = in_seconds(seconds_of(pending_->timeout));
  }

  at::Tensor in(const at::Tensor& tensor) {
    const bool is_lazy = tensor.is_conj() || tensor.is_neg();
    return keep((is_lazy ? tensor.resolve_conj().resolve_neg() : tensor).contiguous());
  }
  at::Tensor in_and_out(const at::Tensor& tensor) { return in_and_out(tensor, tensor); }
  // A buffer that begins with what is given, and whose result goes to the tensor.
  at::Tensor in_and_out(const at::Tensor& tensor, const at::Tensor& given) {
    const at::Tensor buffer = in(given);
    if (!buffer.is_same(tensor)) copy_back(tensor, buffer);
    return buffer;
  }
  at::Tensor out(const at::Tensor& tensor) { return out(tensor, tensor.scalar_type()); }
  at::Tensor out(const at::Tensor& tensor, at::ScalarType type) {
    const bool is_plain = tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg();
    if (is_plain && type == tensor.scalar_type()) return keep(tensor);
    const at::Tensor buffer = keep(at::empty(tensor.sizes(), tensor.options().dtype(type)));
    copy_back(tensor, buffer);
    return buffer;
  }
  // All parts one after the other.
  at::Tensor in_from(const Tensors& parts, const at::Tensor& like) {
    const at::Tensor flat = keep(flat_for(like, static_cast<int>(parts.size())));
    const Tensors views = views_of(flat, like, static_cast<int>(parts.size()));
    for (size_t i = 0; i < parts.size(); ++i) views[i].copy_(parts[i].reshape({-1}));
    return flat;
  }
  at::Tensor out_to(const Tensors& parts, const at::Tensor& like) {
    const at::Tensor flat = keep(flat_for(like, static_cast<int>(parts.size())));
    const Tensors views = views_of(flat, like, static_cast<int>(parts.size()));
    for (size_t i = 0; i < parts.size(); ++i) copy_back(parts[i], views[i].view(parts[i].sizes()));
    return flat;
  }

  // At the end the tensor gets what the buffer has.
  void copy_back(const at::Tensor& to, const at::Tensor& from) { copies_.emplace_back(to, from); }
  // Runs at the end, after the copies.
  void at_end(std::function<void()> last) { last_ = std::move(last); }

  template <class Call>
  void add(Call call) {
    count([&] { add_locked(call); });
  }
  // Over several nodes. `send` makes the errand and starts it.
  template <class Send>
  void add_errand(Send send, std::function<void(const Errand&)> deliver) {
    count([&] { pending_->errands.push_back({send(), std::move(deliver)}); });
  }
  // A message may come when others have passed a barrier, so none completes it.
  template <class Call>
  void add_message(Call call) {
    const std::lock_guard lock(calls_.starting_);
    add_locked(call);
  }
  void add_message(Pending::Sent message) { pending_->errands.push_back(std::move(message)); }
  // The collectives that are under way.
  void complete_earlier() {
    const std::lock_guard lock(calls_.starting_);
    for (const std::weak_ptr<Pending>& one : calls_.collectives_)
      if (auto earlier = one.lock(); earlier && !earlier->is_done())
        pending_->earlier.push_back(std::move(earlier));
  }
  Pending& pending() { return *pending_; }
  int rank() const { return calls_.rank; }

  // A profiler sees the call under its title, with the shapes of what is given.
  c10::intrusive_ptr<c10d::Work> work(c10d::OpType type, const char* title, Tensors results,
                                      at::TensorList given) {
    pending_->results = std::move(results);
    if (!copies_.empty() || last_)
      pending_->after = [copies = std::move(copies_), last = std::move(last_)] {
        const at::NoGradGuard no_grad;
        for (const auto& [to, from] : copies) to.copy_(from);
        if (last) last();
      };
    if (calls_.collecting_) {
      const std::lock_guard lock(calls_.starting_);
      calls_.collected_.push_back(pending_);
    }
    return c10::make_intrusive<TuttiWork>(calls_.rank, type, std::move(pending_), number_,
                                          at::hasCallbacks() ? title : nullptr, given);
  }
  ~Start() {
    if (pending_ && pending_->is_begun()) Helper::get().take(std::move(pending_));
  }

 private:
  template <class Begin>
  void count(Begin begin) {
    const std::lock_guard lock(calls_.starting_);
    const bool is_first = !pending_->is_begun();
    if (is_first) calls_.note(pending_);
    begin();
    if (is_first) number_ = ++calls_.number_;
  }
  template <class Call>
  void add_locked(Call call) {
    tutti_request* request = nullptr;
    require_ok(call(&request));
    pending_->requests.push_back(request);
    require_ok(tutti_request_limit(request, seconds_of(pending_->timeout)));
  }
  at::Tensor keep(const at::Tensor& tensor) { return pending_->kept.emplace_back(tensor); }

  Calls& calls_;
  uint64_t number_ = calls_.number();  // the call's; a message has that of the collective before it
  std::shared_ptr<Pending> pending_;
  std::vector<std::pair<at::Tensor, at::Tensor>> copies_;
  std::function<void()> last_;
};

}  // namespace tutti_torch
