// Notes whether Tutti has served a collective since repeated polls last found nothing (poll.h).
//
// Each thread has a note of its own, so no cache line moves between cores on the path of a call; a
// poll looks at all notes in use. If there are more threads than notes, threads share them, which
// only costs time. The notes live as long as the process; any thread.
#pragma once

#include <cstddef>

#include "mpi/host/abi.h"
#include "shm/order.h"

namespace tutti::mpi {

class ServedCalls {
 public:
  // Notes that Tutti has served a call of this thread.
  static void note() { shm::store_relaxed(*here, 1); }
  // Gives the calling thread a note of its own if it has none. Call it before the thread's
  // first note().
  static void enter_thread() {
    if (here == &notes[0].served) [[unlikely]]
      take_note();
  }

  // True if a call of any thread was noted since the last forget().
  static bool any();
  static void forget();

 private:
  static constexpr size_t most = 64;
  struct alignas(128) ThreadNote {
    shm::Word served{0};
  };
  static ThreadNote notes[most];
  static constinit TUTTI_PER_THREAD shm::Word* here;  // the first note until the thread has entered
  static void take_note();
  static size_t notes_in_use();
};

}  // namespace tutti::mpi
