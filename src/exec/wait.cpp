#include "exec/wait.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/options.h"
#include "base/process.h"
#include "exec/entered.h"

namespace tutti::exec {
namespace {

using Clock = std::chrono::steady_clock;

// Polls without any pause first: the pause costs more than a hand-over on some processors.
constexpr int eager_polls = 200;
constexpr int spin_polls = 512;
constexpr int yield_polls = 20;
constexpr int polls_after_yield = 4;
constexpr int yields_between_looks = 4;
// Yielding hands a core over among the ranks of one session alone: some launchers make one for each
// rank, and automatic grouping then schedules them as groups. There it must not go on for long;
// sleeping always hands over, and costs two system calls and a wake-up.
constexpr auto yield_before_sleep = std::chrono::microseconds(20);
constexpr auto yield_before_sleep_in_session = std::chrono::microseconds(1000);
constexpr auto spin_before_yield = std::chrono::microseconds(100);
constexpr auto peers_checked_every = std::chrono::milliseconds(100);
constexpr long sleep_nanoseconds =
    1'000'000;  // so that the progress hook is called a thousand times a second
// Only one of several peers can wake a sleeper, and none of them a message that is under way: these
// are looked at this often.
constexpr long short_sleep_nanoseconds = 100'000;

void futex_wait(const shm::Count& futex, uint32_t seen, long nanoseconds) {
  const timespec limit{0, nanoseconds};
  syscall(SYS_futex, &futex, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

}  // namespace

void wake_sleepers(shm::Control& own) {
  shm::fence_before_looking();
  if (shm::look(own.doorbell.sleepers) == 0) return;
  shm::ring(own.doorbell.rings);
  syscall(SYS_futex, &own.doorbell.rings, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// One slow wait, for the first of several values: what it has done so far, and the actions that
// come round in it.
class SlowWait {
 public:
  SlowWait(Channel& channel, const Awaited* awaited, int count, uint64_t call)
      : channel_(channel),
        awaited_(awaited),
        count_(count),
        call_(call),
        begin_(Clock::now()),
        next_look_(begin_ + peers_checked_every) {
    shm::Control& own = channel.control(channel.index_);
    // Operations over lines do not say so before: their lines bear the call, and that is cheaper.
    say_entered(own, channel.base_, call);
    shm::store_relaxed(own.waits_value, awaited->value);
    shm::store_relaxed(own.waits_for, static_cast<uint64_t>(awaited->peer) + 1);
  }
  ~SlowWait() { shm::store_relaxed(channel_.control(channel_.index_).waits_for, 0); }

  Code run() { return channel_.style_ == WaitStyle::yield ? run_yielding() : run_spinning(); }

 private:
  // Others may need this core: every look is followed by a yield, and by sleep once that has gone
  // on for a while.
  Code run_yielding() {
    bool sleeps = false;
    std::optional<bool> in_session;
    for (int round = 1;; ++round) {
      if (sleeps) {
        sleep(awaited_[round % count_]);
      } else {
        sched_yield();
      }
      if (poll(polls_after_yield)) return Code::ok;
      if (round % yields_between_looks != 0 && !sleeps) continue;
      if (const Code code = look_around(); code != Code::ok) return code;
      if (elapsed_ <= yield_before_sleep) continue;
      if (!in_session) in_session = is_in_session(awaited_[0].peer);
      sleeps = !*in_session || elapsed_ > yield_before_sleep_in_session;
    }
  }

  // The peer, in this process's.
  bool is_in_session(int peer) const {
    const auto process = static_cast<pid_t>(shm::load_relaxed(channel_.control(peer).process));
    return process == 0 || getsid(process) == getsid(0);  // 0: threads of this process
  }

  // This core is ours: poll, and let others run only when the wait has become long in any case, or
  // is for a rank that may itself wait for a message.
  Code run_spinning() {
    for (;;) {
      if (poll(spin_polls)) return Code::ok;
      if (const Code code = look_around(); code != Code::ok) return code;
      if (elapsed_ > spin_before_yield || channel_.net_ != nullptr) sched_yield();
    }
  }

  bool poll(int polls) const {
    for (int i = 0; i < polls; ++i) {
      for (int k = 0; k < count_; ++k) {
        if (awaited_[k].here()) return true;
      }
      shm::relax();
    }
    return false;
  }

  void sleep(const Awaited& awaited) const {
    shm::Control::Doorbell& doorbell = channel_.control(awaited.peer).doorbell;
    shm::enter(doorbell.sleepers);
    const uint32_t rings = shm::look(doorbell.rings);
    shm::fence_before_looking();
    if (!awaited.here())
      futex_wait(
          doorbell.rings, rings,
          count_ == 1 && channel_.net_ == nullptr ? sleep_nanoseconds : short_sleep_nanoseconds);
    shm::leave(doorbell.sleepers);
  }

  // What must happen now and then in a wait: progress of the host MPI, and a look at the peers,
  // which may be in this very operation with another call, be dead, or have kept us waiting too
  // long.
  Code look_around() {
    if (channel_.hook_.call != nullptr) channel_.hook_.call(channel_.hook_.context);
    const auto now = Clock::now();
    elapsed_ = now - begin_;
    const bool look_closely = now >= next_look_;
    if (look_closely) next_look_ = now + peers_checked_every;
    for (int k = 0; k < count_; ++k) {
      if (is_in_other_call(awaited_[k])) return channel_.fail_mismatch(awaited_[k].peer, call_);
      if (look_closely && is_dead(awaited_[k])) return fail_dead(awaited_[k].peer);
    }
    const int64_t limit = options().stall_seconds;
    if (look_closely && limit > 0 && !reported_ && elapsed_ > std::chrono::seconds(limit))
      return report();
    return Code::ok;
  }

  // By what the peer has posted in this operation, or what it says that it has entered.
  bool is_in_other_call(const Awaited& awaited) const {
    if (awaited.line != nullptr) {
      const uint64_t stamp = shm::observe(awaited.line->stamp);
      if (stamp > channel_.base_ && stamp != awaited.value &&
          shm::load_relaxed(awaited.line->call) != call_)
        return true;
    }
    return entered_other_call(channel_.control(awaited.peer), channel_.base_, call_);
  }

  bool is_dead(const Awaited& awaited) const {
    const uint64_t process = shm::load_relaxed(channel_.control(awaited.peer).process);
    return process != 0 && process_is_gone(process) && !awaited.here();
  }

  Code fail_dead(int peer) {
    const uint64_t process = shm::load_relaxed(channel_.control(peer).process);
    return channel_.fail(Code::dead_peer, "rank " + std::to_string(channel_.rank_of(peer)) +
                                              " (process " + std::to_string(process) +
                                              ") is gone; rank " + std::to_string(channel_.rank_) +
                                              " waited for it in " + describe_call(call_));
  }

  Code report() {
    reported_ = true;
    return channel_.report_stall(channel_.rank_of(awaited_->peer), call_);
  }

  Channel& channel_;
  const Awaited* awaited_;
  int count_;
  uint64_t call_;
  Clock::time_point begin_;
  Clock::time_point next_look_;
  Clock::duration elapsed_{};
  bool reported_ = false;
};

Code wait_for(Channel& channel, const Awaited& awaited, uint64_t call) {
  const int polls = channel.style() == WaitStyle::yield ? yield_polls : eager_polls;
  for (int poll = 0; poll < polls; ++poll) {
    if (awaited.here()) return Code::ok;
  }
  return SlowWait(channel, &awaited, 1, call).run();
}

Code wait_for_line(Channel& channel, const shm::Line& line, uint64_t number, int32_t peer,
                   uint64_t call) {
  return wait_for(channel, {&line.stamp, number, peer, &line}, call);
}

Code wait_for_any(Channel& channel, const Awaited* awaited, int count, uint64_t call) {
  const int polls = channel.style() == WaitStyle::yield ? yield_polls : eager_polls;
  for (int poll = 0; poll < polls; poll += count) {
    for (int i = 0; i < count; ++i) {
      if (awaited[i].here()) return Code::ok;
    }
  }
  return SlowWait(channel, awaited, count, call).run();
}

}  // namespace tutti::exec
