#include "mpi/progress/host_waits.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include "base/launched.h"
#include "base/options.h"
#include "exec/core_watch.h"
#include "placement/cores.h"
#include "shm/order.h"

namespace tutti::mpi {
namespace {

// A message that is on its way is found by these polls.
constexpr uint32_t polls_before_rest = 4;
// After a thousand polls that found nothing the wait is long, or the host's messages go another way
// than by what it polls here (MPICH 5 on one node), and it then yields by itself.
constexpr uint32_t polls_between_rests(uint32_t idle) { return idle < 1024 ? 2 : 32; }
// A wait of so many polls, and of each multiple, sleeps shortly, because threads that yield without
// end can make the kernel's scheduler fail
// (docs/decisions/waiting-with-more-ranks-than-cores.md).
constexpr uint32_t polls_before_sleep = 8192;
constexpr timespec short_sleep{.tv_sec = 0, .tv_nsec = 1000};
// In calls whose polls sleep.
constexpr auto time_before_sleep = std::chrono::milliseconds(1);
// Ranks with cores of their own look this often whether they have been moved.
constexpr int32_t polls_between_looks = 4096;

constinit shm::Word shares_cores{0};
constinit std::chrono::microseconds longest_in_call{};

}  // namespace

constinit thread_local HostWait host_wait;

void rest_in_host_waits(exec::WaitStyle style) {
  shm::publish(shares_cores, style == exec::WaitStyle::yield ? 1 : 0);
}

void rest_in_first_host_waits() {
  if (options().disable) return;
  const auto cores = static_cast<int>(placement::usable_cores().count());
  const bool yield = yields(options().wait) ||
                     (options().wait == WaitChoice::automatic && launched_ranks_on_node() > cores);
  rest_in_host_waits(yield ? exec::WaitStyle::yield : exec::WaitStyle::spin);
}

int32_t HostWait::polled(bool progressed) {
  if (!progressed) begin_wait();
  if (progressed) end_wait();
  if (call_ != nullptr && !polled_by_own_wait_ && call_->sleeps(progressed)) return 0;
  if (shm::load_relaxed(shares_cores) == 0 && !exec::shares_core_in_long_wait(Clock::now()))
    return waits_are_timed || call_ != nullptr ? 0 : polls_between_looks;
  if (progressed) {
    idle_ = 0;
    ++progressed_;
  } else if (!polled_by_own_wait_ && ++idle_ > polls_before_rest &&
             idle_ % polls_between_rests(idle_) == 0) {
    rest();
  }
  return 0;
}

void HostWait::end_wait() {
  if (std::exchange(waits_, false)) waited_so_far += Clock::now() - waits_since_;
}

void limit_sleeps_in_calls(std::chrono::microseconds longest) { longest_in_call = longest; }

SleepingCall::SleepingCall() : outer_(host_wait.call_), began_(Clock::now()), quiet_since_(began_) {
  host_wait.call_ = this;
  exec::ring_all_idle();
}

SleepingCall::~SleepingCall() { host_wait.call_ = outer_; }

bool SleepingCall::sleeps(bool progressed) {
  const exec::IdleBells* const bells = exec::idle_bells();
  const auto now = Clock::now();
  if (progressed || bells == nullptr) quiet_since_ = now;
  if (now - quiet_since_ < time_before_sleep) return false;
  const auto longest =
      std::chrono::duration_cast<std::chrono::microseconds>(now - quiet_since_) / 4;
  if (sleeps_.sleep(*bells, std::min(exec::sleep_after(now - began_, longest_in_call), longest)))
    quiet_since_ = Clock::now();
  return true;
}

void HostWait::rest() const {
  if (idle_ % polls_before_sleep == 0)
    nanosleep(&short_sleep, nullptr);
  else
    sched_yield();
}

}  // namespace tutti::mpi
