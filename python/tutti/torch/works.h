// Groups, the calls that have been started in them (Pending), and the helper thread.
//
// A Pending belongs to its Work, to the helper thread, and to barriers that were started after it;
// whoever waits for it first completes it. Any thread may. A Group ends with the last that uses it.
#pragma once

#include <torch/csrc/distributed/c10d/Work.hpp>
#include <torch/extension.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "errands.h"
#include "threads.h"
#include "tutti/tutti.h"

namespace tutti_torch {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;
using Tensors = std::vector<at::Tensor>;

inline double seconds_of(Milliseconds time) { return static_cast<double>(time.count()) / 1000; }

// The moment so many seconds from now; at most three years, so that sums do not overflow.
inline Clock::time_point in_seconds(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::min(seconds, 1e8)));
}

inline double seconds_until(Clock::time_point moment) {
  return std::max(std::chrono::duration<double>(moment - Clock::now()).count(), 0.0);
}

// The text of an error, without torch's stack.
inline std::string text_of(const std::exception& error) {
  const auto* const own = dynamic_cast<const c10::Error*>(&error);
  return own != nullptr ? own->what_without_backtrace() : error.what();
}

// The error of the call that has just failed in this thread.
inline void require_ok(tutti_status status) {
  TORCH_CHECK_WITH(DistBackendError, status == TUTTI_OK, "tutti: ", tutti_error_message());
}

// True if this process has made a group, and the shared heap with it. Its forked children have not.
inline std::atomic<bool> has_group{false};

// True in the helper thread.
inline thread_local bool is_helper = false;

// The group of this process.
struct Group {
  tutti_team* team = nullptr;
  tutti_group* group = nullptr;
  std::function<void(Clock::time_point)> finish_errands;  // waits until then at most; may be null

  static std::shared_ptr<Group> make() {
    const std::shared_ptr<Group> made(new Group, &end);
    const std::lock_guard lock(all_mutex());
    std::erase_if(all(), [](const auto& one) { return one.expired(); });
    all().push_back(made);
    return made;
  }

  // False in a child that was forked after the group was made. The group is its parent's.
  bool is_own() const { return forks_ == forks; }
  void require_own() const {
    TORCH_CHECK_WITH(DistBackendError, is_own(),
                     "tutti: this process was forked after the group was made, so only its parent "
                     "may use the group; make a group in the child");
  }

  // Waits for at most so many seconds until the others have read what this process has given in all
  // of its groups, because the data ends with the process.
  static void flush_all(double seconds) {
    std::vector<std::shared_ptr<Group>> here;
    {
      const std::lock_guard lock(all_mutex());
      for (const std::weak_ptr<Group>& one : all())
        if (auto group = one.lock()) here.push_back(std::move(group));
    }
    const Clock::time_point end = in_seconds(seconds);
    for (const std::shared_ptr<Group>& one : here) {
      if (one->group == nullptr || !one->is_own()) continue;
      if (one->finish_errands) one->finish_errands(end);
      tutti_group_flush(one->group, seconds_until(end));
    }
    while (ending_ > 0 && Clock::now() < end) std::this_thread::sleep_for(Milliseconds(1));
  }

  // For a child: a thread of the parent's may have held the mutex, so the child gets another.
  static void forget_all() {
    all_mutex_ = new std::mutex;
    all_ = new std::vector<std::weak_ptr<Group>>;
    ending_ = 0;
  }

  // Runs a function that ends a group in a thread of its own. False: there is no thread.
  static bool end_apart(std::function<void()> end) {
    ++ending_;
    try {
      std::thread([end = std::move(end)]() mutable {
        end();
        end = nullptr;
        --ending_;
      }).detach();
      return true;
    } catch (const std::system_error&) {
      --ending_;
      return false;
    }
  }

 private:
  Group() = default;
  Group(const Group&) = delete;
  ~Group() {
    tutti_group_free(group);
    tutti_team_free(team);
  }
  // A group waits for ranks that read its memory, for seconds if one does not come. Neither the
  // helper thread nor Python's other threads wait for that.
  static void end(Group* group) {
    if (is_helper && end_apart([group] { delete group; })) return;
    if (Py_IsInitialized() && PyGILState_Check()) {
      const pybind11::gil_scoped_release release;
      delete group;
    } else {
      delete group;
    }
  }

  static inline std::atomic<int> ending_{0};  // the threads that end a group
  // Never freed, because threads may end groups while the process ends.
  static inline std::mutex* all_mutex_ = new std::mutex;
  static inline auto* all_ = new std::vector<std::weak_ptr<Group>>;
  static std::mutex& all_mutex() { return *all_mutex_; }
  static std::vector<std::weak_ptr<Group>>& all() { return *all_; }

  const int forks_ = forks;
};

// Calls that have been started and are not complete.
class Pending {
 public:
  struct Sent {
    std::shared_ptr<Errand> errand;
    std::function<void(const Errand&)> deliver;  // copies the result to the buffers
  };

  // Set before the Work is made:
  std::shared_ptr<Group> group;
  std::vector<tutti_request*> requests;           // null: completed
  std::vector<Sent> errands;                      // over several nodes, instead of requests
  std::vector<std::shared_ptr<Pending>> earlier;  // calls that are completed before this one
  Tensors kept;                                   // the buffers
  Tensors results;
  std::vector<Tensors> lists;   // the future's value instead, if there are several
  std::function<void()> after;  // copies results to tensors that are not contiguous
  Milliseconds timeout{0};
  Clock::time_point deadline;       // the helper thread gives up then
  int sender = -1;                  // the rank whose message has come, if any may send
  std::function<void()> end_event;  // ends the profiler's event, if there is one

  ~Pending() { free_requests(); }

  bool is_begun() const { return !requests.empty() || !errands.empty(); }
  bool is_done() const { return done_; }
  // Null unless it is done and has failed.
  std::exception_ptr failure() const { return done_ ? failure_ : nullptr; }

  // Completes it, or returns why it is not complete by then.
  std::string wait_until(Clock::time_point end) {
    std::unique_lock lock(driving_, std::defer_lock);
    while (!done_ && !lock.try_lock_until(end))
      if (Clock::now() >= end) return "another thread waits for it";
    if (done_) return "";
    try {
      group->require_own();
      for (const std::shared_ptr<Pending>& one : earlier) {
        if (std::string late = one->wait_until(end); !late.empty()) return late;
        if (one->failure()) std::rethrow_exception(one->failure());
      }
      for (tutti_request*& request : requests) {
        if (request == nullptr) continue;
        const double left = seconds_until(end);
        // A request that has begun to take its results cannot be waited for again.
        require_ok(tutti_request_limit(request, std::max(left, least_patience)));
        const tutti_status status = tutti_request_wait(&request, left);
        if (status == TUTTI_TIMEOUT) return tutti_error_message();
        require_ok(status);
      }
      for (const Sent& one : errands)
        if (!one.errand->wait_until(end))
          return one.errand->name + std::string(" over several nodes is not complete");
      finish();
    } catch (...) {
      failure_ = std::current_exception();
    }
    end_with(std::move(lock));
    return "";
  }

  // Completes it if that needs no wait. Does nothing while another thread waits.
  bool try_now() {
    if (done_) return true;
    std::unique_lock lock(driving_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    if (done_) return true;
    try {
      group->require_own();
      for (const std::shared_ptr<Pending>& one : earlier) {
        if (!one->try_now()) return false;
        if (one->failure()) std::rethrow_exception(one->failure());
      }
      for (tutti_request*& request : requests) {
        if (request == nullptr) continue;
        int is_complete = 0;
        require_ok(tutti_request_test(&request, &is_complete));
        if (is_complete == 0) return false;
      }
      for (const Sent& one : errands)
        if (!one.errand->is_done()) return false;
      finish();
    } catch (...) {
      failure_ = std::current_exception();
    }
    end_with(std::move(lock));
    return true;
  }

  // Ends it with an error. Nothing is written to its tensors any more. False while another thread
  // waits.
  bool give_up() {
    std::unique_lock lock(driving_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    if (done_) return true;
    free_requests();
    try {
      TORCH_CHECK_WITH(DistBackendError, false, "tutti: Timed out after ", timeout.count(), " ms");
    } catch (...) {
      failure_ = std::current_exception();
    }
    end_with(std::move(lock));
    return true;
  }

  using Future = c10::intrusive_ptr<c10::ivalue::Future>;
  // *is_new: the helper thread must take it.
  Future future(bool* is_new) {
    *is_new = false;
    Future made;
    {
      const std::lock_guard lock(telling_);
      if (future_) return future_;
      c10::TypePtr type = c10::ListType::create(c10::TensorType::get());
      if (!lists.empty()) type = c10::ListType::create(std::move(type));
      made = future_ = c10::make_intrusive<c10::ivalue::Future>(std::move(type));
      *is_new = !done_;
    }
    if (!*is_new) tell(*made);
    return made;
  }

 private:
  static constexpr double least_patience = 2;

  void finish() {
    for (const Sent& one : errands) one.deliver(*one.errand);
    errands.clear();
    if (after) after();
  }
  void free_requests() {
    for (tutti_request*& request : requests)
      if (request != nullptr) tutti_request_free(&request);
    if (!errands.empty() && group->is_own())
      for (const Sent& one : errands) one.errand->abandon();
    errands.clear();
  }

  void tell(c10::ivalue::Future& its) const {
    if (failure_)
      its.setError(failure_);
    else
      its.markCompleted(lists.empty() ? c10::IValue(results) : c10::IValue(lists));
  }

  // The future's callbacks, and tensors that end, may need Python's lock, and a thread that has it
  // may be about to lock the mutexes.
  void end_with(std::unique_lock<std::timed_mutex> lock) {
    const Tensors buffers = std::exchange(kept, {});
    const std::function<void()> copies = std::exchange(after, nullptr);
    const std::vector<std::shared_ptr<Pending>> others = std::exchange(earlier, {});
    if (end_event) end_event();
    Future completed;
    {
      const std::lock_guard telling(telling_);
      done_ = true;
      completed = future_;
    }
    lock.unlock();
    if (completed) tell(*completed);
  }

  std::timed_mutex driving_;    // held by the thread that completes it; guards what is set before
  std::mutex telling_;          // guards future_, and whether it is told; held for moments
  std::exception_ptr failure_;  // constant once done_
  std::atomic<bool> done_{false};
  Future future_;
};

// The thread that completes what nobody waits for. It lives as long as the process, and works
// alone.
class Helper {
 public:
  static Helper& get() { return *now(); }
  void take(std::shared_ptr<Pending> pending) {
    const std::lock_guard lock(mutex_);
    pending_.push_back(std::move(pending));
    came_.notify_one();
    if (!started_) std::thread([this] { run(); }).detach();
    started_ = true;
  }
  // A forked child has no such thread.
  static void replace() { now() = new Helper; }

 private:
  void run() {
    constexpr auto shortest = std::chrono::microseconds(20),
                   longest = std::chrono::microseconds(500);
    is_helper = true;
    stay_alone();
    auto rest = shortest;
    for (;;) {
      std::list<std::shared_ptr<Pending>> all;
      {
        std::unique_lock lock(mutex_);
        came_.wait(lock, [&] { return !pending_.empty(); });
        all.swap(pending_);
      }
      const size_t before = all.size();
      const Clock::time_point now = Clock::now();
      all.remove_if([&](const auto& one) {
        return one->try_now() || (now >= one->deadline && one->give_up());
      });
      const bool any = all.size() < before;
      {
        const std::lock_guard lock(mutex_);
        pending_.splice(pending_.begin(), all);
      }
      rest = any ? shortest : std::min(2 * rest, longest);
      if (!any) std::this_thread::sleep_for(rest);
    }
  }

  static Helper*& now() {
    static Helper* helper = new Helper;
    return helper;
  }

  std::mutex mutex_;
  std::condition_variable came_;
  std::list<std::shared_ptr<Pending>> pending_;
  bool started_ = false;
};

class TuttiWork final : public c10d::Work {
 public:
  // The profiler's event begins here. Its title is null if nobody profiles.
  TuttiWork(int rank, c10d::OpType type, std::shared_ptr<Pending> pending, uint64_t number,
            const char* title, at::TensorList given)
      : Work(rank, type, title, title == nullptr ? std::optional<Tensors>() : given.vec()),
        pending_(std::move(pending)),
        number_(number) {
    pending_->end_event = std::move(recordFunctionEndCallback_);
  }
  ~TuttiWork() override {
    if (!pending_->is_done() && pending_->group->is_own()) Helper::get().take(pending_);
  }

  bool isCompleted() override { return pending_->try_now(); }
  bool isSuccess() const override { return pending_->is_done() && !pending_->failure(); }
  std::exception_ptr exception() const override { return pending_->failure(); }
  int sourceRank() const override { return pending_->sender; }
  Tensors result() override { return pending_->results; }
  void synchronize() override { wait(); }
  uint64_t getSequencenumber() const override { return number_; }

  bool wait(Milliseconds timeout = kNoTimeout) override {
    const Milliseconds limit = timeout == kNoTimeout ? pending_->timeout : timeout;
    const std::string late = pending_->wait_until(in_seconds(seconds_of(limit)));
    TORCH_CHECK_WITH(DistBackendError, late.empty(), "tutti: Timed out after ", limit.count(),
                     " ms: ", late);
    if (pending_->failure()) std::rethrow_exception(pending_->failure());
    return true;
  }

  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    bool is_new = false;
    const Pending::Future future = pending_->future(&is_new);
    if (is_new) Helper::get().take(pending_);
    return future;
  }

 private:
  const std::shared_ptr<Pending> pending_;
  const uint64_t number_;
};

}  // namespace tutti_torch
