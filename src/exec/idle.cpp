#include "exec/idle.h"

#include <algorithm>
#include <utility>

namespace tutti::exec {
namespace {

using std::chrono::microseconds;

constinit IdleBells bells{};

}  // namespace

void sleep_when_idle(const IdleBells& of_node) {
  bells = of_node;
  shm::publish(idle_waits_sleep, 1);
}

void wake_when_idle() { shm::publish(idle_waits_sleep, 0); }

const IdleBells* idle_bells() { return shm::observe(idle_waits_sleep) != 0 ? &bells : nullptr; }

microseconds sleep_after(std::chrono::nanoseconds waited, microseconds longest) {
  constexpr microseconds shortest{50};
  return std::clamp(std::chrono::duration_cast<microseconds>(waited) / 100, shortest, longest);
}

void IdleSleeps::leave() {
  if (!std::exchange(is_at_bell_, false)) return;
  if (const IdleBells* const of_node = idle_bells()) of_node->of(of_node->own).leave();
}

void ring_idle(int rank) {
  if (idle_bells() != nullptr && rank >= 0 && rank < bells.ranks) bells.of(rank).wake();
}

void ring_all_idle() {
  if (idle_bells() == nullptr) return;
  for (int rank = 0; rank < bells.ranks; ++rank)
    if (rank != bells.own) bells.of(rank).wake();
}

}  // namespace tutti::exec
