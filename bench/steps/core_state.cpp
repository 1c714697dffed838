#include "steps/core_state.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tutti::bench {

CoreState::CoreState(BoundThreads& threads, double chosen) : threads_(threads), chosen_(chosen) {}

double CoreState::look(int thread) {
  constexpr int bursts = 5, trips = 8;
  double least = HUGE_VAL;  // what interrupts a burst only makes it longer
  for (int burst = 0; burst < bursts; ++burst) {
    const uint64_t start = threads_.meet(thread);
    if (thread > 1) continue;
    std::atomic<uint64_t>& own = words_[thread].number;
    const std::atomic<uint64_t>& other = words_[!thread].number;
    const uint64_t before = own.load(std::memory_order_relaxed);
    for (uint64_t number = before + 1; number <= before + trips; ++number) {
      if (thread == 0) own.store(number, std::memory_order_release);
      while (other.load(std::memory_order_acquire) < number) continue;
      if (thread == 1) own.store(number, std::memory_order_release);
    }
    least = std::min(least, threads_.nanoseconds(threads_.now() - start) / (2 * trips));
  }
  if (thread == 0) hand_over_ = least;
  threads_.meet(thread);
  return hand_over_;
}

void CoreState::choose(int thread) {
  if (!has_states()) return;
  constexpr int looks = 50;
  constexpr std::chrono::milliseconds apart{5};
  std::vector<double> seen;
  for (int i = 0; i < looks; ++i) {
    seen.push_back(look(thread));
    const Clock::time_point until = Clock::now() + apart;
    while (Clock::now() < until) continue;  // a core that rests may be moved
  }
  std::nth_element(seen.begin(), seen.begin() + looks / 2, seen.end());
  if (thread == 0) {
    chosen_ = seen[looks / 2];
    steady_ = true;
    spent_ = {};
  }
  threads_.meet(thread);
}

bool CoreState::is_chosen(double hand_over) const {
  constexpr double factor = 1.3;  // states differ by more
  return hand_over < chosen_ * factor && hand_over > chosen_ / factor;
}

void CoreState::repeat(int thread, const std::function<void()>& measure) {
  if (!has_states()) return measure();
  if (chosen_ == 0) choose(thread);
  do {
    const Clock::time_point begin = Clock::now();
    const double before = look(thread);
    measure();
    const double after = look(thread);
    if (thread == 0) {
      const bool was_steady = is_chosen(before) && is_chosen(after);
      again_ = !was_steady && spent_ < patience;
      if (again_)
        spent_ += Clock::now() - begin;
      else
        steady_ = steady_ && was_steady;
    }
    threads_.meet(thread);
  } while (again_);
}

}  // namespace tutti::bench
