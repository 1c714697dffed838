#include "exec/idle.h"

namespace tutti::exec {
namespace {

constinit IdleBells bells{};

}  // namespace

void sleep_when_idle(const IdleBells& of_node) {
  bells = of_node;
  shm::publish(idle_waits_sleep, 1);
}

void wake_when_idle() { shm::publish(idle_waits_sleep, 0); }

const IdleBells* idle_bells() { return shm::observe(idle_waits_sleep) != 0 ? &bells : nullptr; }

void ring_idle(int rank) {
  if (idle_bells() != nullptr && rank >= 0 && rank < bells.ranks) bells.of(rank).wake();
}

void ring_all_idle() {
  if (idle_bells() == nullptr) return;
  for (int rank = 0; rank < bells.ranks; ++rank)
    if (rank != bells.own) bells.of(rank).wake();
}

}  // namespace tutti::exec
