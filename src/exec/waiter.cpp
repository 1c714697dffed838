#include "exec/waiter.h"

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/process.h"
#include "base/time_spent.h"
#include "exec/core_watch.h"
#include "exec/idle.h"

namespace tutti::exec {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr auto closely_every = milliseconds(100);

// Yielding hands a core over only among the ranks of one session. Some launchers make a session for
// each rank, and automatic grouping then schedules each session as a group. Such ranks must not
// yield for long. Sleeping always hands the core over, and costs two system calls and a wake-up.
constexpr auto yield_before_sleep = microseconds(20);
constexpr auto yield_before_sleep_in_session = microseconds(1000);

// Threads that yield without end can make the kernel's scheduler fail
// (docs/decisions/waiting-with-more-ranks-than-cores.md), and they heat a core for nothing. So a
// wait that has become this long rests by sleeps that are short beside it.
constexpr auto yield_on_own_core = milliseconds(10);
constexpr auto sleep_on_own_core = microseconds(10);

constexpr microseconds one_sleep =
    milliseconds(1);  // so that the progress hook is called a thousand times a second
// A message that was rung for may take several polls of the host's to arrive.
constexpr auto poll_after_ring = microseconds(50);
// Only one of several peers can wake a sleeper, and a message that is under way can wake none: such
// a wait polls this often.
constexpr auto short_sleep = microseconds(100);

// Others may need this core: the rank yields between polls, and sleeps when it has yielded for a
// while.
Pace pace_of_shared_core() {
  Pace pace;
  pace.polls = 4;
  pace.first = Rest::yield;
  pace.rests_before_look = 4;
  pace.sleeps_after = yield_before_sleep;
  pace.shares_core = true;
  return pace;
}

void rest_in_long_waits(Pace& pace) {
  pace.sleeps_after = yield_on_own_core;
  pace.shortest_sleep = pace.longest_sleep = sleep_on_own_core;
  pace.sleeps_exactly = true;
}

// This core is ours: the rank polls, and yields only if the wait has become long, or if the peer
// may itself wait for a message. No peer rings for it, so it sleeps by the clock.
Pace pace_of_own_core(bool gets_messages) {
  Pace pace;
  pace.polls = 512;
  pace.yields_after = gets_messages ? microseconds(0) : microseconds(100);
  pace.has_core = true;
  rest_in_long_waits(pace);
  return pace;
}

// One slow wait for the first of several values.
class ValueWait {
 public:
  ValueWait(const Awaited* awaited, int count, const Areas& areas, bool gets_messages, Watch& watch)
      : awaited_(awaited),
        count_(count),
        areas_(areas),
        gets_messages_(gets_messages),
        watch_(watch) {}

  Code run(WaitStyle style, const ProgressHook& hook) {
    const bool own_core = style == WaitStyle::spin;
    Waiter waiter(own_core ? pace_of_own_core(gets_messages_) : pace_of_shared_core(), hook);
    const auto ready = [this] { return any_here(); };
    const auto look_closer = [&] { return look(waiter); };
    if (own_core || (sleeps_when_idle() && !one_wakes())) return waiter.until(ready, look_closer);
    return waiter.until(ready, look_closer, [&] { sleep(awaited_[++sleeps_ % count_], waiter); });
  }

 private:
  bool any_here() const {
    for (int i = 0; i < count_; ++i) {
      if (awaited_[i].here()) return true;
    }
    return false;
  }

  // A peer may be in this operation with another call, it may be dead, or the wait may have taken
  // too long.
  Code look(Waiter& waiter) {
    for (int i = 0; i < count_; ++i) {
      if (const Code code = watch_.look(awaited_[i]); code != Code::ok) return code;
      if (waiter.looks_closely() && is_dead(awaited_[i])) return watch_.dead(awaited_[i]);
    }
    if (waiter.looks_closely() && waiter.stalls()) {
      if (const Code code = watch_.stalled(); code != Code::ok) return code;
    }
    waiter.note_peer(process_of(awaited_[0].peer));
    return Code::ok;
  }

  uint64_t process_of(int peer) const { return shm::load_relaxed(areas_.control(peer).process); }

  bool is_dead(const Awaited& awaited) const {
    const uint64_t process = process_of(awaited.peer);
    return process != 0 && process_is_gone(process) && !awaited.here();
  }

  // The awaited peer rings for this rank, and nothing else ends the wait.
  bool one_wakes() const { return count_ == 1 && !gets_messages_; }

  void sleep(const Awaited& awaited, Waiter& waiter) const {
    waiter.sleep_on(
        areas_.control(awaited.peer).doorbell, [&] { return awaited.here(); },
        one_wakes() ? one_sleep : short_sleep);
  }

  const Awaited* const awaited_;
  const int count_;
  const Areas areas_;
  const bool gets_messages_;
  Watch& watch_;
  int sleeps_ = 0;
};

}  // namespace

Pace pace_between_calls(WaitStyle style) {
  Pace pace = style == WaitStyle::spin ? pace_of_own_core(false) : pace_of_shared_core();
  if (style == WaitStyle::spin) pace.sleeps_after = yield_before_sleep_in_session;
  pace.shortest_sleep = microseconds(1);
  pace.longest_sleep = microseconds(50);
  pace.sleeps_exactly = true;
  return pace;
}

Pace pace_of_copies(WaitStyle style) {
  if (style == WaitStyle::spin) return pace_of_own_core(false);
  Pace pace = pace_of_shared_core();
  rest_in_long_waits(pace);
  return pace;
}

// A rank knows how many ranks of its node share its cores, but containers and virtual machines look
// like nodes of their own. So every wait for a message yields: if no other process wants the core,
// a yield takes no longer than a test of a message. If cores are known to be few, the rank sleeps
// when it has yielded for a while.
Pace pace_of_messages(WaitStyle style) {
  Pace pace;
  pace.polls = 8;
  pace.yields_at_poll = true;
  pace.yields_after = Pace::never;
  rest_in_long_waits(pace);
  if (style == WaitStyle::yield) pace.sleeps_after = microseconds(100);
  pace.has_core = style == WaitStyle::spin;
  return pace;
}

// Some hosts look for a message before they make progress, so that a second poll finds it.
Pace pace_of_idle() {
  Pace pace;
  pace.polls = 4;
  pace.first = Rest::yield;
  pace.sleeps_after = milliseconds(1);
  return pace;
}

// With many ranks on few cores, sleeps of one length would take the cores from those that are late.
Pace pace_of_set_up() {
  Pace pace;
  pace.sleeps_after = milliseconds(1);
  pace.shortest_sleep = microseconds(100);
  pace.longest_sleep = milliseconds(1);
  return pace;
}

Pace pace_of_joining() {
  Pace pace;
  pace.sleeps_after = microseconds(0);
  pace.shortest_sleep = pace.longest_sleep = microseconds(50);
  return pace;
}

Waiter::Waiter(const Pace& pace, const ProgressHook& hook)
    : pace_(pace),
      hook_(hook),
      begin_(Clock::now()),
      next_close_look_(begin_ + closely_every),
      watched_(begin_),
      rest_(pace.first),
      next_sleep_(pace.shortest_sleep) {
  if (pace_.has_core && shares_core(begin_)) {
    share_core();
    rest_ = pace_.first;
  }
}

Waiter::~Waiter() {
  if (waits_are_timed) waited_so_far += Clock::now() - begin_;
  if (slack_before_) prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(*slack_before_));
}

void Waiter::yield() { sched_yield(); }

// The system lets a thread's timers be late by 50 us, which is more than a message takes. A wait
// for a message makes them exact.
void Waiter::sleep() {
  if (sleep_on_bell()) return;
  if (pace_.sleeps_exactly && !slack_before_) {
    slack_before_ = std::max(prctl(PR_GET_TIMERSLACK), 1);
    prctl(PR_SET_TIMERSLACK, 1UL);
  }
  usleep(static_cast<useconds_t>(std::max(next_sleep_, least_sleep()).count()));
  next_sleep_ = std::min(2 * next_sleep_, pace_.longest_sleep);
}

// Where idle ranks sleep.
bool Waiter::sleep_on_bell() {
  const IdleBells* const bells = idle_bells();
  if (bells == nullptr) return false;
  was_rung_for_ =
      idle_sleeps_.sleep(*bells, sleep_limit(sleep_after(elapsed_, bells->longest_sleep)));
  return true;
}

// A rank that waits for an answer of this one, such as that to MPI_Fetch_and_op on its memory,
// gives its core away meanwhile. So a wait in which messages have progressed looks after each rest.
void Waiter::look_at_clock() {
  const bool progressed = hook_.call != nullptr && hook_.call(hook_.context);
  const auto now = Clock::now();
  elapsed_ = now - begin_;
  if (std::exchange(was_rung_for_, false))
    last_progress_ = elapsed_ + poll_after_ring - pace_.sleeps_after;
  if (progressed) {
    last_progress_ = elapsed_;
    next_sleep_ = pace_.shortest_sleep;
    pace_.rests_before_look = 1;
  }
  watched_.look(now);
  looks_closely_ = now >= next_close_look_;
  if (looks_closely_) next_close_look_ = now + closely_every;
  if (pace_.has_core && shares_core_in_long_wait(now)) share_core();
}

// The host's messages ring no doorbell, and one that has come is often followed by another: what
// the next one waits for this rank is short beside the time since then.
microseconds Waiter::sleep_limit(microseconds most) const {
  if (!last_progress_) return most;
  return std::min(most, std::chrono::duration_cast<microseconds>(idle()) / 4);
}

// Threads that sleep and wake thousands of times a second can make the kernel's scheduler fail, as
// those can that yield (docs/decisions/waiting-with-more-ranks-than-cores.md). A 32nd of the time
// since something came adds little to any wait.
microseconds Waiter::least_sleep() const {
  return std::min(std::chrono::duration_cast<microseconds>(idle()) / 32, one_sleep);
}

void Waiter::share_core() {
  pace_ = pace_between_calls(WaitStyle::yield);
  next_sleep_ = pace_.shortest_sleep;
}

void Waiter::note_peer(uint64_t process) {
  if (!pace_.shares_core || knows_session_ || elapsed_ <= yield_before_sleep) return;
  knows_session_ = true;
  if (process == 0 || getsid(static_cast<pid_t>(process)) == getsid(0))
    pace_.sleeps_after = yield_before_sleep_in_session;
}

void Waiter::choose_rest() {
  if (idle() > pace_.sleeps_after)
    rest_ = Rest::sleep;
  else
    rest_ = elapsed_ >= pace_.yields_after ? Rest::yield : Rest::none;
}

Code wait_slowly(const Awaited* awaited, int count, const Areas& areas, WaitStyle style,
                 bool gets_messages, const ProgressHook& hook, Watch& watch) {
  return ValueWait(awaited, count, areas, gets_messages, watch).run(style, hook);
}

void wake_sleepers(shm::Control& own) { own.doorbell.wake(); }

}  // namespace tutti::exec
