// In which state two cores are: how quickly they reach each other at this moment.
//
// The host of a virtual machine moves its cores together and apart, several times a second or every
// few minutes, and everything that crosses from core to core then takes two to four times as long,
// or as short. What is measured in one state must not be held against what was measured in another,
// so measurements are repeated until a hand-over before and after is that of the chosen state.
//
// All threads call alike.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#include "steps/bound_threads.h"

namespace tutti::bench {

class CoreState {
 public:
  // Keeps a reference to the threads, of which the first two are looked at. With one thread, or
  // threads that share cores, every state is as good. `chosen`: a hand-over of the state, in
  // nanoseconds; 0: the first call of repeat() chooses.
  CoreState(BoundThreads& threads, double chosen);

  // Chooses the state in which most of a quarter of a second passes. What is measured from here on
  // is steady until something else is noticed.
  void choose(int thread);
  double chosen() const { return chosen_; }

  // Calls `measure` until it begins and ends in the chosen state, but spends at most `patience` on
  // repetitions since the state was chosen: then what comes is taken.
  void repeat(int thread, const std::function<void()>& measure);
  // False once something was taken that was measured in another state.
  bool is_steady() const { return steady_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds patience{5};

  // The time of a hand-over now, the same to all threads.
  double look(int thread);
  bool is_chosen(double hand_over) const;
  bool has_states() const { return threads_.count() > 1 && !threads_.share_cores(); }

  struct alignas(128) Word {
    std::atomic<uint64_t> number{0};
  };

  BoundThreads& threads_;
  Word words_[2];
  // Written by the first thread, read by all after a meeting.
  double hand_over_ = 0;
  double chosen_;
  bool steady_ = true;
  bool again_ = false;
  Clock::duration spent_{};
};

}  // namespace tutti::bench
