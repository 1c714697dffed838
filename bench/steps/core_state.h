// In which state two cores are: how quickly they reach each other at this moment.
//
// The host of a virtual machine moves its cores together and apart, several times a second or every
// few minutes. Whatever crosses from core to core then takes two to four times as long, or as
// short; and so does, at other moments, writing to lines that the other core has read. Measurements
// in one state must not be compared with those in another. So a measurement is repeated until the
// state before and after it is the chosen one.
//
// All threads call alike.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#include "steps/bound_threads.h"

namespace tutti::bench {

// The times that tell one state from another. Nanoseconds; 0: not known.
struct CoreTimes {
  double hand_over = 0;
  double rewriting = 0;  // the time to rewrite some KiB that the other core has read
};

class CoreState {
 public:
  // Keeps a reference to the threads, of which the first two are looked at. With one thread, or
  // threads that share cores, every state is as good. If no state is chosen, the first call of
  // repeat() chooses one.
  explicit CoreState(BoundThreads& threads, CoreTimes chosen = {});

  // Chooses the state in which most of a quarter of a second passes. Measurements from here on are
  // steady until something else is noticed.
  void choose(int thread);
  CoreTimes chosen() const { return chosen_; }

  // Calls `measure` until it begins and ends in the chosen state, but spends at most `patience` on
  // repetitions since the state was chosen: then what comes is taken.
  void repeat(int thread, const std::function<void()>& measure);
  // False once something was taken that was measured in another state.
  bool is_steady() const { return steady_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds patience{5};

  // The state now, the same to all threads.
  CoreTimes look(int thread);
  double hand_over(int thread);
  double rewriting(int thread);
  bool has_states() const { return threads_.count() > 1 && !threads_.share_cores(); }

  struct alignas(128) Word {
    std::atomic<uint64_t> number{0};
  };

  BoundThreads& threads_;
  Word words_[2];
  Memory page_;
  // Written by the first thread, read by all after a meeting.
  CoreTimes seen_, chosen_;
  bool steady_ = true;
  bool again_ = false;
  Clock::duration spent_{};
};

}  // namespace tutti::bench
