#include "mpi/progress/host_waits.h"

#include <sched.h>

#include <algorithm>
#include <ctime>

#include "base/launched.h"
#include "base/options.h"
#include "exec/core_watch.h"
#include "placement/cores.h"
#include "shm/order.h"

namespace tutti::mpi {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A message that is on its way is found by these polls.
constexpr uint32_t polls_before_rest = 32;
constexpr uint32_t yields_between_looks = 64;
// A wait of this length sleeps, because threads that yield without end can make the kernel's
// scheduler fail, and because a rank in a session of its own may keep its core while it yields
// (docs/decisions/waiting-with-more-ranks-than-cores.md). Sleeps are short: the host may hold a
// lock while it polls, and nobody rings when a message comes.
constexpr auto yields_for = milliseconds(1);
constexpr auto shortest_sleep = microseconds(1), longest_sleep = microseconds(50);
// A program that computes between polls is not in one wait.
constexpr auto between_polls = microseconds(20);
// Ranks with cores of their own look this often whether they have been moved.
constexpr int32_t polls_between_looks = 4096;

constinit shm::Word shares_cores{0};

}  // namespace

void rest_in_host_waits(exec::WaitStyle style) {
  shm::publish(shares_cores, style == exec::WaitStyle::yield ? 1 : 0);
}

void rest_in_first_host_waits() {
  if (options().disable) return;
  const auto cores = static_cast<int>(placement::usable_cores().count());
  const bool yields = options().wait == WaitChoice::yield ||
                      (options().wait == WaitChoice::automatic && launched_ranks_on_node() > cores);
  rest_in_host_waits(yields ? exec::WaitStyle::yield : exec::WaitStyle::spin);
}

int32_t HostWait::polled(bool progressed) {
  if (shm::load_relaxed(shares_cores) == 0 && !exec::shares_core_in_long_wait(Clock::now()))
    return polls_between_looks;
  if (progressed) {
    idle_ = 0;
    sleep_ = nanoseconds(0);
  } else if (++idle_ > polls_before_rest) {
    rest();
  }
  return 0;
}

void HostWait::rest() {
  if (sleep_ > nanoseconds(0)) return rest_long();
  sched_yield();
  const uint32_t yields = idle_ - polls_before_rest;
  if (yields % yields_between_looks != 1) return;
  last_ = Clock::now();
  if (yields == 1) begin_ = last_;
  if (last_ - begin_ > yields_for) sleep_ = shortest_sleep;
}

void HostWait::rest_long() {
  if (Clock::now() - last_ > between_polls + sleep_) {
    idle_ = 0;
    sleep_ = nanoseconds(0);
    return;
  }
  const timespec sleep{.tv_sec = 0, .tv_nsec = sleep_.count()};
  nanosleep(&sleep, nullptr);
  sleep_ = std::min<nanoseconds>(2 * sleep_, longest_sleep);
  last_ = Clock::now();
}

}  // namespace tutti::mpi
