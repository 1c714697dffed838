// Doorbells: how a thread sleeps until another thread, perhaps of another process, has published
// something, and how that thread wakes it.
//
// Both are templates over the atomic operations, so that tests can run them in all interleavings
// (src/rma/test_interleavings.h). A doorbell lies in memory that its users share, and is all zero
// at first. Any thread may use it.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/line.h"
#include "shm/order.h"

namespace tutti::shm {

// The machine's atomic operations (order.h), as the templates take them.
struct MachineAtomics {
  using Word = shm::Word;
  using Count = shm::Count;
  static void publish(Word& word, uint64_t value) { shm::publish(word, value); }
  static uint64_t observe(const Word& word) { return shm::observe(word); }
  static bool take(Word& word, uint64_t from, uint64_t to) { return shm::take(word, from, to); }
  static void fence_before_looking() { shm::fence_before_looking(); }
  static void enter(Count& sleepers) { shm::enter(sleepers); }
  static void leave(Count& sleepers) { shm::leave(sleepers); }
  static uint32_t look(const Count& count) { return shm::look(count); }
  static void ring(Count& rings) { shm::ring(rings); }
  // Returns when the count is woken, differs from `seen`, or the time is over; negative: no limit.
  static void wait(Count& rings, uint32_t seen, std::chrono::nanoseconds limit);
  // The same for the first of two counts. Where the kernel has no such wait (before Linux 5.16, or
  // forbidden), it waits for the second alone, and for a millisecond at most.
  static void wait_for_either(Count& first, uint32_t seen_of_first, Count& second,
                              uint32_t seen_of_second, std::chrono::nanoseconds limit);
  static void wake(Count& rings);
};

template <class Atomics>
struct alignas(line_size) BasicDoorbell {
  typename Atomics::Count sleepers;
  typename Atomics::Count rings;  // the futex

  // Call it after publishing the data that the sleepers wait for.
  void wake() {
    Atomics::fence_before_looking();
    if (Atomics::look(sleepers) == 0) return;
    Atomics::ring(rings);
    Atomics::wake(rings);
  }

  // Sleeps until it is woken, or for `limit` (negative: without limit), unless ready(), which reads
  // what the others publish. May return early.
  template <class Ready>
  void sleep_unless(Ready ready, std::chrono::nanoseconds limit) {
    const uint32_t seen = enter();
    if (!ready()) Atomics::wait(rings, seen, limit);
    leave();
  }

  // The same in parts, for a thread that sleeps again and again: it enters, then reads what the
  // others publish, then sleeps unless the bell has been rung since. It reads again after each
  // sleep, and leaves at the end.
  uint32_t enter() {
    Atomics::enter(sleepers);
    return rung();
  }
  // Sleeps if the bell has not been rung since `seen`. Returns what to give next time.
  uint32_t sleep(uint32_t seen, std::chrono::nanoseconds limit) {
    Atomics::wait(rings, seen, limit);
    return rung();
  }
  // Sleeps on `other` as well, unless ready(), which reads what is published before `other` rings.
  template <class Ready>
  uint32_t sleep_beside(uint32_t seen, BasicDoorbell& other, Ready ready,
                        std::chrono::nanoseconds limit) {
    const uint32_t seen_of_other = other.enter();
    if (!ready()) Atomics::wait_for_either(rings, seen, other.rings, seen_of_other, limit);
    other.leave();
    return rung();
  }
  void leave() { Atomics::leave(sleepers); }

 private:
  uint32_t rung() const {
    const uint32_t seen = Atomics::look(rings);
    Atomics::fence_before_looking();
    return seen;
  }
};

using Doorbell = BasicDoorbell<MachineAtomics>;
static_assert(sizeof(Doorbell) == line_size);

}  // namespace tutti::shm
