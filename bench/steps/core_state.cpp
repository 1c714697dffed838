#include "steps/core_state.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tutti::bench {
namespace {

constexpr size_t rewritten = 8192;  // bytes
constexpr int bursts = 5;           // several, because an interruption only makes a burst longer

bool are_alike(double one, double other) {
  constexpr double factor = 1.3;  // states differ by more
  return one < other * factor && other < one * factor;
}

bool are_alike(const CoreTimes& one, const CoreTimes& other) {
  return are_alike(one.hand_over, other.hand_over) && are_alike(one.rewriting, other.rewriting);
}

}  // namespace

CoreState::CoreState(BoundThreads& threads, CoreTimes chosen)
    : threads_(threads), page_(memory_of(rewritten)), chosen_(chosen) {}

double CoreState::hand_over(int thread) {
  constexpr int trips = 8;
  double least = HUGE_VAL;
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
  return least;
}

double CoreState::rewriting(int thread) {
  auto* const values = reinterpret_cast<std::atomic<uint64_t>*>(page_.get());
  constexpr size_t count = rewritten / sizeof *values;
  double least = HUGE_VAL;
  for (int burst = 0; burst < bursts; ++burst) {
    for (size_t i = 0; thread == 1 && i < count; ++i) values[i].load(std::memory_order_relaxed);
    const uint64_t start = threads_.meet(thread);
    for (size_t i = 0; thread == 0 && i < count; ++i)
      values[i].store(start, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // until the stores have their lines
    least = std::min(least, threads_.nanoseconds(threads_.now() - start));
    threads_.meet(thread);
  }
  return least;
}

CoreTimes CoreState::look(int thread) {
  const CoreTimes seen{hand_over(thread), rewriting(thread)};
  if (thread == 0) seen_ = seen;
  threads_.meet(thread);
  return seen_;
}

void CoreState::choose(int thread) {
  if (!has_states()) return;
  constexpr int looks = 50;
  constexpr std::chrono::milliseconds apart{5};
  std::vector<CoreTimes> seen;
  for (int i = 0; i < looks; ++i) {
    seen.push_back(look(thread));
    const Clock::time_point until = Clock::now() + apart;
    while (Clock::now() < until) continue;  // a core that rests may be moved
  }
  const auto like = [&seen](const CoreTimes& one) {
    return std::count_if(seen.begin(), seen.end(),
                         [&one](const CoreTimes& other) { return are_alike(one, other); });
  };
  if (thread == 0) {
    chosen_ = *std::max_element(
        seen.begin(), seen.end(),
        [&like](const CoreTimes& one, const CoreTimes& other) { return like(one) < like(other); });
    steady_ = true;
    spent_ = {};
  }
  threads_.meet(thread);
}

void CoreState::repeat(int thread, const std::function<void()>& measure) {
  if (!has_states()) return measure();
  if (chosen_.hand_over == 0) choose(thread);
  do {
    const Clock::time_point begin = Clock::now();
    const CoreTimes before = look(thread);
    measure();
    const CoreTimes after = look(thread);
    if (thread == 0) {
      const bool was_steady = are_alike(before, chosen_) && are_alike(after, chosen_);
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
