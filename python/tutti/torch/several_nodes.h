// Ranks on several nodes. A thread of the group carries its collectives out (leaders.h), one after
// the other in the order of their starts. Messages are gloo's, and each has a thread that waits for
// it.
//
// If a collective fails while ranks may be at different places of it, the group has ended: what is
// under way fails, and so do later collectives. The thread ends after the Carrier, when it has
// carried out what was started.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/extension.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arguments.h"
#include "carriers.h"
#include "errands.h"
#include "leaders.h"
#include "start.h"
#include "works.h"

namespace tutti_torch {

inline std::exception_ptr error_with(const std::string& text) {
  try {
    TORCH_CHECK_WITH(DistBackendError, false, "tutti: ", text);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

// The thread of a group, and its errands.
class ErrandThread final : public std::enable_shared_from_this<ErrandThread> {
 public:
  using Body = std::function<at::Tensor(Leaders&)>;

  explicit ErrandThread(std::unique_ptr<Leaders> leaders) : leaders_(std::move(leaders)) {}

  void start() {
    std::thread([own = shared_from_this()] { own->run(); }).detach();
  }
  std::shared_ptr<Errand> add(const char* name, Clock::time_point deadline, Body body) {
    const std::lock_guard lock(mutex_);
    TORCH_CHECK_WITH(DistBackendError, failure_.empty(), "tutti: ", failure_);
    all_.push_back({std::make_shared<Errand>(name), deadline, std::move(body)});
    changed_.notify_all();
    return all_.back().errand;
  }
  // Errands under way fail, and so do later ones.
  void fail(const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = why;
    for (const One& one : all_) one.errand->fail(error_with(failure_));
  }
  // True if all errands have ended by then.
  bool finish_until(Clock::time_point end) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, end, [&] { return all_.empty(); });
  }
  void end() {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }

 private:
  struct One {
    std::shared_ptr<Errand> errand;
    Clock::time_point deadline;
    Body body;
  };

  void run() {
    const at::NoGradGuard no_grad;
    for (;;) {
      One now;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !all_.empty() || ending_; });
        if (all_.empty()) return;
        now = all_.front();
      }
      if (!now.errand->is_done()) carry_out(now);
      const std::lock_guard lock(mutex_);
      all_.pop_front();
      changed_.notify_all();
    }
  }
  void carry_out(const One& one) {
    try {
      leaders_->set_deadline(one.deadline);
      one.errand->succeed(one.body(*leaders_));
    } catch (const Disagreement& error) {
      one.errand->fail(error_with(error.what()));
    } catch (const std::exception& error) {
      leaders_->leave();
      fail(one.errand->name + std::string(": ") + text_of(error));
    }
  }

  const std::unique_ptr<Leaders> leaders_;
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<One> all_;  // the first is under way
  std::string failure_;
  bool ending_ = false;
};

// Messages between all ranks. A message has a byte more than its data, because gloo has none
// without bytes. gloo sends it when its receiver asks, so the sender's thread keeps a copy.
class Messages final : public std::enable_shared_from_this<Messages> {
 public:
  explicit Messages(Gloo all) : all_(std::move(all)) {}

  void send(const at::Tensor& buffer, int to, int tag) {
    const at::Tensor copy = new_bytes(buffer.nbytes() + 1);
    std::memcpy(copy.data_ptr(), buffer.data_ptr(), buffer.nbytes());
    Tensors list{copy};
    await(all_->send(list, to, tag), true, [copy](std::exception_ptr) {});
  }
  // The result has a byte too many.
  std::shared_ptr<Errand> receive(size_t bytes, int from, int tag) {
    const at::Tensor got = new_bytes(bytes + 1);
    Tensors list{got};
    const Work work =
        from == TUTTI_ANY ? all_->recvAnysource(list, tag) : all_->recv(list, from, tag);
    const auto errand = std::make_shared<Errand>("a message", [work] { work->abort(); });
    await(work, false, [errand, got, work](std::exception_ptr failure) {
      if (failure)
        errand->fail(std::move(failure));
      else
        errand->succeed(got, work->sourceRank());
    });
    return errand;
  }
  // Those that are under way fail, and so do later ones.
  void abort() {
    const std::lock_guard lock(mutex_);
    aborted_ = true;
    for (const One& one : under_way_) one.work->abort();
  }
  void abort_sent() {
    const std::lock_guard lock(mutex_);
    for (const One& one : under_way_)
      if (one.is_sent) one.work->abort();
  }
  // True if all that this rank has sent has been received by then.
  bool finish_until(Clock::time_point end) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, end, [&] { return sent_ == 0; });
  }

 private:
  using Work = c10::intrusive_ptr<c10d::Work>;
  struct One {
    Work work;
    bool is_sent;
  };

  void await(Work work, bool is_sent, std::function<void(std::exception_ptr)> then) {
    std::unique_lock lock(mutex_);
    TORCH_CHECK_WITH(DistBackendError, !aborted_, "tutti: the group was aborted");
    const auto place = under_way_.insert(under_way_.end(), {work, is_sent});
    sent_ += is_sent ? 1 : 0;
    lock.unlock();
    std::thread([own = shared_from_this(), place, then = std::move(then)] {
      std::exception_ptr failure = error_with("the message was given up, or the group was aborted");
      try {
        if (place->work->wait(forever)) failure = nullptr;
      } catch (const std::exception& error) {
        failure = error_with("a message between ranks has failed: " + text_of(error));
      }
      then(failure);
      const std::lock_guard relock(own->mutex_);
      own->sent_ -= place->is_sent ? 1 : 0;
      own->under_way_.erase(place);
      own->changed_.notify_all();
    }).detach();
  }

  // A wait that ends in time breaks gloo's connections, so each message is awaited without a limit.
  static constexpr Milliseconds forever = std::chrono::hours(24 * 365);

  const Gloo all_;
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::list<One> under_way_;
  size_t sent_ = 0;  // how many of under_way_ send
  bool aborted_ = false;
};

class SeveralNodes final : public Carrier {
 public:
  SeveralNodes(Leaders::Settings settings)
      : node_(settings.group),
        messages_(std::make_shared<Messages>(settings.all)),
        thread_(std::make_shared<ErrandThread>(std::make_unique<Leaders>(std::move(settings)))) {
    thread_->start();
    node_->finish_errands = [thread = std::weak_ptr(thread_),
                             messages = std::weak_ptr(messages_)](Clock::time_point end) {
      if (const auto own = thread.lock()) own->finish_until(end);
      if (const auto own = messages.lock()) own->finish_until(end);
    };
  }
  // A child that was forked has neither the threads nor the connections.
  ~SeveralNodes() override {
    if (!node_->is_own()) {
      (void)new std::pair(thread_, messages_);
      return;
    }
    thread_->end();
    Group::end_apart([thread = thread_, messages = messages_] {
      const Clock::time_point end = in_seconds(longest_end);
      thread->finish_until(end);
      if (!messages->finish_until(end)) messages->abort_sent();
    });
  }

  void broadcast(Start& start, const at::Tensor& buffer, int root) override {
    const at::Tensor own = copy_of(buffer);
    send_off(start, "broadcast", buffer,
             [own, root](Leaders& all) { return all.broadcast(own, root); });
  }
  void allreduce(Start& start, const at::Tensor& buffer, const ReduceOp& op) override {
    (void)combination_of(op, buffer.scalar_type());
    const at::Tensor own = buffer.clone();
    send_off(start, "allreduce", buffer,
             [own, op](Leaders& all) { return all.allreduce(own, op); });
  }
  void reduce(Start& start, const at::Tensor& buffer, const ReduceOp& op, int root) override {
    (void)combination_of(op, buffer.scalar_type());
    const at::Tensor own = buffer.clone();
    send_off(start, "reduce", start.rank() == root ? buffer : at::Tensor(),
             [own, op, root](Leaders& all) { return all.allreduce(own, op, root); });
  }
  void reduce_scatter(Start& start, const at::Tensor& in, const at::Tensor& out,
                      const ReduceOp& op) override {
    (void)combination_of(op, in.scalar_type());
    const at::Tensor own = in.clone();
    send_off(start, "reduce_scatter", out,
             [own, op](Leaders& all) { return all.reduce_scatter(own, op); });
  }
  void allgather(Start& start, const at::Tensor& in, const at::Tensor& out) override {
    const at::Tensor own = copy_of(in);
    send_off(start, "allgather", out, [own](Leaders& all) { return all.allgather(own); });
  }
  void gather(Start& start, const at::Tensor& in, const at::Tensor& out, int root) override {
    const at::Tensor own = copy_of(in);
    send_off(start, "gather", out, [own, root](Leaders& all) { return all.gather(own, root); });
  }
  void scatter(Start& start, const at::Tensor& in, const at::Tensor& out, int root) override {
    const at::Tensor own = in.defined() ? copy_of(in) : in;
    send_off(start, "scatter", out, [own, each = out.nbytes(), root](Leaders& all) {
      return all.scatter(own, each, root);
    });
  }
  void alltoall(Start& start, const Parts& from, const Parts& to) override {
    const std::vector<int64_t> give(from.bytes.begin(), from.bytes.end()),
        expected(to.bytes.begin(), to.bytes.end());
    size_t total = 0;
    for (const size_t bytes : from.bytes) total += bytes;
    const at::Tensor own = new_bytes(total);
    size_t at = 0;
    for (size_t part = 0; part < from.at.size(); at += from.bytes[part++])
      std::memcpy(place_in(own, at), from.first + from.at[part], from.bytes[part]);
    start.add_errand(
        [&] {
          return thread_->add(
              "alltoall", start.pending().deadline,
              [own, give, expected](Leaders& all) { return all.alltoall(own, give, expected); });
        },
        [to](const Errand& errand) {
          const at::Tensor got = errand.result();
          size_t at = 0;
          for (size_t part = 0; part < to.at.size(); at += to.bytes[part++])
            std::memcpy(to.first + to.at[part], place_in(got, at), to.bytes[part]);
        });
  }
  void barrier(Start& start) override {
    send_off(start, "barrier", {}, [](Leaders& all) {
      all.barrier();
      return at::Tensor();
    });
  }

  void send(const at::Tensor& buffer, int to, int tag) override {
    messages_->send(buffer, to, tag);
  }
  void receive(Start& start, const at::Tensor& buffer, int from, int tag) override {
    int* const sender = &start.pending().sender;
    start.add_message(
        {messages_->receive(buffer.nbytes(), from, tag), [buffer, sender](const Errand& errand) {
           std::memcpy(buffer.data_ptr(), errand.result().data_ptr(), buffer.nbytes());
           *sender = errand.sender();
         }});
  }
  void send_word(int to) override { messages_->send(new_bytes(1), to, tag_of_words); }
  bool hear_word(int from, Clock::time_point end) override {
    const std::shared_ptr<Errand> word = messages_->receive(1, from, tag_of_words);
    const bool has_come = word->wait_until(end);
    word->abandon();
    if (has_come) (void)word->result();
    return has_come;
  }

  void abort() override {
    require_ok(tutti_group_abort(node_->group));
    thread_->fail("the group was aborted");
    messages_->abort();
  }

 private:
  static constexpr double longest_end = 10;  // seconds

  static at::Tensor copy_of(const at::Tensor& buffer) { return bytes_of(buffer).clone(); }

  // The buffer gets the result; none if it is not defined.
  void send_off(Start& start, const char* name, const at::Tensor& buffer, ErrandThread::Body body) {
    start.add_errand([&] { return thread_->add(name, start.pending().deadline, std::move(body)); },
                     [buffer](const Errand& errand) {
                       const at::Tensor result = errand.result();
                       if (buffer.defined())
                         std::memcpy(buffer.data_ptr(), result.data_ptr(), buffer.nbytes());
                     });
  }

  const std::shared_ptr<Group> node_;
  const std::shared_ptr<Messages> messages_;
  const std::shared_ptr<ErrandThread> thread_;
};

}  // namespace tutti_torch
