// Waits in the host MPI: its loops poll for messages, and some hosts never give the core away
// meanwhile (MPICH over UCX). Where ranks share cores, a hook in the host's polls rests for them.
//
// A hook belongs to one kind of host (ucx.cpp). It tells this file of each poll, and the rest is
// the same for all: some polls, then yields between polls, and now and then a short sleep. No call
// of MPI becomes another one, and no rank waits for another here.
//
// rest_in_host_waits is for one thread at a time; polls are for any thread, which rests for itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "base/time_spent.h"
#include "exec/idle.h"
#include "exec/waiter.h"

namespace tutti::mpi {

// From now on, host waits of this process rest if the style is `yield`. If it is `spin`, they rest
// while a wait finds that ranks have been moved to its core (exec/core_watch.h). Before the first
// call nobody rests.
void rest_in_host_waits(exec::WaitStyle style);
// The same inside MPI_Init, before ranks know each other: by the launcher's number of ranks and by
// the cores of this process.
void rest_in_first_host_waits();

// While one lives, its thread is in a blocking call that the host serves, and ranks sleep when they
// are idle (exec/idle.h): polls that find nothing sleep then, from a millisecond on. It rings for
// the others, which may wait for this rank to begin the call.
class SleepingCall {
 public:
  SleepingCall();
  ~SleepingCall();
  SleepingCall(const SleepingCall&) = delete;

  // Tells of a poll. True if it has slept.
  bool sleeps(bool progressed);

 private:
  using Clock = std::chrono::steady_clock;

  SleepingCall* const outer_;
  const Clock::time_point began_;
  Clock::time_point quiet_since_;  // the call's beginning, or progress, or a ring
  exec::IdleSleeps sleeps_;
};

// Calls the host by `by_host`, in which ranks sleep when they are idle. Returns what it returns.
template <class ByHost>
int sleeping(ByHost by_host) {
  if (!exec::sleeps_when_idle()) [[likely]]
    return by_host();
  const SleepingCall call;
  return by_host();
}

// The longest of these sleeps. A host may poll with a lock held that the other threads of the
// process need.
void limit_sleeps_in_calls(std::chrono::microseconds longest);
// Open MPI calls a function of ours from now on when it polls (opal.cpp), if it is the host. For
// one thread at a time.
void watch_polls_of_open_mpi();

// One thread's waits in the host.
class HostWait {
 public:
  // Tells of a poll, which found messages to progress or not, and may rest. Returns how many polls
  // need not be told of.
  int32_t polled(bool progressed);
  // How many polls that it was told of found messages to progress.
  uint32_t progressed() const { return progressed_; }
  // Between these, the time of polls that find nothing is a wait (base/time_spent.h).
  void begin_timed() { times_ = waits_are_timed; }
  void end_timed() {
    end_wait();
    times_ = false;
  }
  // Tutti polls the host in its own waits, which rest by themselves, so those polls do not rest.
  // Polls in the program's own loops of tests do.
  void begin_own_poll() { polled_by_own_wait_ = !in_test_; }
  void end_own_poll() { polled_by_own_wait_ = false; }
  void note_test(bool in_test) { in_test_ = in_test; }
  // A poll of a host that tells neither what it found nor by whom it was called: a timed call waits
  // from its first poll to its end.
  void polled() {
    begin_wait();
    if (call_ != nullptr && !polled_by_own_wait_) call_->sleeps(false);
  }

 private:
  friend class SleepingCall;
  using Clock = std::chrono::steady_clock;

  void rest() const;
  void begin_wait() {
    if (times_ && !polled_by_own_wait_ && !std::exchange(waits_, true)) waits_since_ = Clock::now();
  }
  void end_wait();

  Clock::time_point waits_since_{};
  uint32_t idle_ = 0;  // polls in a row that found nothing
  uint32_t progressed_ = 0;
  bool in_test_ = false, polled_by_own_wait_ = false;
  bool times_ = false, waits_ = false;
  SleepingCall* call_ = nullptr;  // the innermost
};
extern constinit thread_local HostWait host_wait;  // this thread's

}  // namespace tutti::mpi
