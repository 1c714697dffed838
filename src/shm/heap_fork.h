// The treatment of a process's heaps by fork; heap.h states the guarantees. Internal to shm.
//
// The functions work on a list of the process's heaps, which lives as long as the process; enter
// and leave may be called by any thread. The handlers run in the thread that forks. In the child
// they call only functions that POSIX lists as safe in signal handlers, because another thread may
// have held any lock when the process was copied.
#pragma once

#include "shm/heap.h"

namespace tutti::shm {

struct HeapFork {
  // Makes forks copy this heap from now on. False if there are too many heaps or the handlers
  // cannot be registered.
  static bool enter(Heap* heap);
  static void leave(Heap* heap);

  // The handlers of pthread_atfork.
  static void prepare();
  static void parent();
  static void child();
};

}  // namespace tutti::shm
