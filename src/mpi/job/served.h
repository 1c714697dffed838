// Counts the collectives that Tutti has served in each thread. Repeated polls, which find nothing,
// look whether it has served one since (poll.h); the roll call names the number (mpi/roll).
//
// Each thread has a note of its own, so no cache line moves between cores on the path of a call; a
// poll looks at all notes in use. If there are more threads than notes, threads share them. Their
// counts are then too small or too large, and polls may take longer. The notes live as long as the
// process; any thread.
#pragma once

#include <cstddef>

#include "mpi/host/abi.h"
#include "shm/order.h"

namespace tutti::mpi {

class ServedCalls {
 public:
  // Notes that Tutti has served a call of this thread.
  static void note() { shm::count_own(*here); }
  // Gives the calling thread a note of its own if it has none. Call it before the thread's
  // first note().
  static void enter_thread() {
    if (here == &notes[0].served) [[unlikely]]
      take_note();
  }

  static uint64_t of_all_threads();
  static uint64_t of_this_thread() { return shm::load_relaxed(*here); }

  // True if a call of any thread was noted since the last forget().
  static bool any();
  static void forget();

 private:
  static constexpr size_t most = 64;
  struct alignas(128) ThreadNote {
    shm::Word served{0};
    shm::Word forgotten{0};  // the count at the last forget()
  };
  static ThreadNote notes[most];
  static constinit TUTTI_PER_THREAD shm::Word* here;  // the first note until the thread has entered
  static void take_note();
  static size_t notes_in_use();
};

}  // namespace tutti::mpi
