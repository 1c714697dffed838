// The waiter: the only loop that waits for other ranks. It spins, yields and sleeps, drives the
// host MPI, and checks now and then whether a peer is dead or the wait has taken too long.
//
// A Pace describes how one kind of wait spends the time between its polls. A Waiter is one wait: it
// lives on the stack of the waiting thread from the first slow poll to the last. It knows words,
// lines and doorbells. Its user polls, and decides what a dead peer or a stall means.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/error.h"
#include "exec/idle.h"
#include "exec/watched_time.h"
#include "shm/layout.h"
#include "shm/order.h"

namespace tutti::exec {

enum class WaitStyle : uint8_t {
  spin,   // a core for every rank: poll, call the progress hook now and then; in waits of
          // milliseconds also yield, and then sleep for microseconds. A rank that has been moved to
          // a core of others does as below, but sleeps by the clock: nobody rings for it.
  yield,  // more ranks than cores: poll a little, yield, then sleep on the peer's doorbell
};

// Called while waiting, so that the host MPI's messages progress; null where there is no host.
// Returns true if some are known to have progressed: then more of them may be on their way.
struct ProgressHook {
  bool (*call)(void* context) = nullptr;
  void* context = nullptr;
};

// The rest of a wait between its polls.
enum class Rest : uint8_t { none, yield, sleep };

struct Pace {
  using Duration = std::chrono::steady_clock::duration;
  static constexpr Duration never = Duration::max();

  int polls = 1;                // between two rests
  bool yields_at_poll = false;  // after each poll; else the processor is told of a spin loop
  Rest first = Rest::none;      // the rest before the first polls
  int rests_before_look = 1;    // a look follows so many rests, and each sleep
  // The rest after a look, by the time that the wait has taken so far.
  Duration yields_after = Duration::zero();
  Duration sleeps_after = never;
  // A sleep is `shortest_sleep` long, and each further one twice as long, up to `longest_sleep`.
  std::chrono::microseconds shortest_sleep{0};
  std::chrono::microseconds longest_sleep{0};
  bool sleeps_exactly = false;  // sleeps end in time, and not up to 50 us late
  bool shares_core = false;     // other ranks may need this core (Waiter::note_peer)
  bool has_core = false;        // no other rank did; a Waiter looks whether one does (core_watch.h)
};

// For a wait for another rank's next call, and not for a step of a call that it has entered.
Pace pace_between_calls(WaitStyle style);
// For a wait for ranks that copy data at this moment.
Pace pace_of_copies(WaitStyle style);
// For a message between nodes, which takes microseconds at least.
Pace pace_of_messages(WaitStyle style);
// For messages of the host's where idle ranks sleep (exec/idle.h).
Pace pace_of_idle();
// For ranks that set up together, once.
Pace pace_of_set_up();
// For the threads of a team that have not joined yet.
Pace pace_of_joining();

class Waiter {
 public:
  explicit Waiter(const Pace& pace, const ProgressHook& hook = {});
  ~Waiter();
  Waiter(const Waiter&) = delete;

  // Polls until `ready()` is true, then returns Code::ok. Looks now and then: calls the hook, then
  // `look()`, and returns the code of a look that is not Code::ok.
  template <class Ready, class Look>
  Code until(Ready ready, Look look) {
    return until(ready, look, [this] { sleep(); });
  }
  // `go_to_sleep()` in the place of a sleep by the clock.
  template <class Ready, class Look, class Sleep>
  Code until(Ready ready, Look look, Sleep go_to_sleep) {
    for (int rests = 1;; ++rests) {
      if (rest_ == Rest::sleep) go_to_sleep();
      if (rest_ == Rest::yield) yield();
      for (int polls = 0; polls < pace_.polls; ++polls) {
        if (ready()) return Code::ok;
        if (pace_.yields_at_poll)
          yield();
        else
          shm::relax();
      }
      if (rest_ != Rest::sleep && rests % pace_.rests_before_look != 0) continue;
      look_at_clock();
      if (const Code code = look(); code != Code::ok) return code;
      choose_rest();
    }
  }

  // For looks: the time since the wait began.
  Pace::Duration elapsed() const { return elapsed_; }
  // True every 100 ms: the time for what costs a system call or a report.
  bool looks_closely() const { return looks_closely_; }
  // The limit of a sleep that does not end when a message comes: `most`, or less after messages
  // have progressed in this wait, or this rank was rung for.
  std::chrono::microseconds sleep_limit(std::chrono::microseconds most) const;
  // Sleeps on the bell of a peer, which rings after publishing what ready() reads, for `most`, or
  // less after messages have progressed in this wait. Where idle ranks sleep, for as long as they
  // do, also on the bell of this rank.
  template <class Ready>
  void sleep_on(shm::Doorbell& bell, Ready ready, std::chrono::microseconds most) {
    const IdleBells* const bells = idle_bells();
    if (bells == nullptr)
      bell.sleep_unless(ready, sleep_limit(std::max(most, least_sleep())));
    else
      was_rung_for_ =
          idle_sleeps_.sleep_beside(*bells, bell, ready, sleep_limit(bells->longest_sleep));
  }
  // For limits of a wait: what other ranks could have done in the meantime.
  const WatchedTime& watched() const { return watched_; }
  // True once, when the wait has taken as long as the watchdog allows (TUTTI_STALL_SECONDS).
  bool stalls() { return watched_.stalls(); }
  // For looks of a wait on a shared core: it waits for this process, and yields for long before it
  // sleeps if that process gets the core thereby. 0: a thread of this process.
  void note_peer(uint64_t process);

 private:
  using Clock = std::chrono::steady_clock;

  static void yield();
  // Sleeps of a wait that lasts are no shorter than this.
  std::chrono::microseconds least_sleep() const;
  void sleep();
  bool sleep_on_bell();
  void look_at_clock();
  // The time in which nothing has come.
  Pace::Duration idle() const { return elapsed_ - last_progress_.value_or(Pace::Duration::zero()); }
  void choose_rest();
  void share_core();

  Pace pace_;
  const ProgressHook hook_;
  const Clock::time_point begin_;
  Clock::time_point next_close_look_;
  Pace::Duration elapsed_{};
  std::optional<Pace::Duration> last_progress_;  // when messages of the host last progressed
  WatchedTime watched_;
  bool looks_closely_ = false;
  bool knows_session_ = false;
  Rest rest_;
  std::chrono::microseconds next_sleep_;
  // The slack of this thread's timers before, while sleeps end in time.
  std::optional<int> slack_before_;
  IdleSleeps idle_sleeps_;
  bool was_rung_for_ = false;  // in the last of them
};

// One value of a peer of this node: its progress word is at least `value`, or the stamp of one of
// its lines is exactly `value`.
struct Awaited {
  const shm::Word* word;
  uint64_t value;
  int32_t peer;           // its place among the areas
  const shm::Line* line;  // null where a progress word is awaited

  bool here() const {
    const uint64_t seen = shm::observe(*word);
    return line != nullptr ? seen == value : seen >= value;
  }
};

// The areas of the ranks of a node, as far as waiting needs them.
struct Areas {
  std::byte* first;
  size_t stride;

  shm::Control& control(int place) const {
    return *reinterpret_cast<shm::Control*>(first + static_cast<size_t>(place) * stride);
  }
};

// The user of a wait for values of peers.
class Watch {
 public:
  // A peer may be in this operation with another call.
  virtual Code look(const Awaited& awaited) = 0;
  // The process of the peer has ended, and what is awaited of it has not come.
  virtual Code dead(const Awaited& awaited) = 0;
  // The wait has taken as long as the watchdog allows.
  virtual Code stalled() = 0;

 protected:
  ~Watch() = default;
};

// Polls without a pause, which is the whole cost where the values are about to come. True if one is
// here.
[[gnu::always_inline]] inline bool poll_eagerly(const Awaited* awaited, int count,
                                                WaitStyle style) {
  // A pause costs more than a hand-over on some processors.
  constexpr int polls_of_own_core = 200, polls_of_shared_core = 20;
  const int most = style == WaitStyle::yield ? polls_of_shared_core : polls_of_own_core;
  for (int polls = 0; polls < most; polls += count) {
    for (int i = 0; i < count; ++i) {
      if (awaited[i].here()) return true;
    }
  }
  return false;
}

// The wait after that: until one of several values is here; `count` is at least 1. `gets_messages`:
// peers may themselves wait for a message.
Code wait_slowly(const Awaited* awaited, int count, const Areas& areas, WaitStyle style,
                 bool gets_messages, const ProgressHook& hook, Watch& watch);

// Wakes the peers that sleep until this rank publishes. Called only if ranks outnumber cores,
// because otherwise no peer sleeps.
void wake_sleepers(shm::Control& own);

}  // namespace tutti::exec
