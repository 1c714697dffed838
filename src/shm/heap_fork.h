// What fork means for the heaps of a process (heap.h tells what it promises). Internal to shm.
//
// The handlers run in the thread that forks; in the child nothing but calls that POSIX lists as
// safe in signal handlers is used, since another thread may have held any lock when the process was
// copied.
#pragma once

#include "shm/heap.h"

namespace tutti::shm {

struct HeapFork {
  // From now on a fork copies it. False where there are too many heaps or the system takes no
  // handlers.
  static bool enter(Heap* heap);
  static void leave(Heap* heap);

  // The handlers.
  static void prepare();
  static void parent();
  static void child();
};

}  // namespace tutti::shm
