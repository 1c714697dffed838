// Whether Tutti has served a collective since a poll last looked in vain (poll.h).
//
// Each thread notes it in a place of its own, so that no cache line moves between cores on the path
// of a call; a poll looks at all places in use. More threads than places share them, which costs
// time and nothing else.
#pragma once

#include <cstddef>

#include "net/abi.h"
#include "shm/order.h"

namespace tutti::mpi {

class ServedCalls {
 public:
  // By the thread that was served.
  static void note() { shm::store_relaxed(*here, 1); }
  // Gives the calling thread a place of its own, if it has none: before it is first served.
  static void enter_thread() {
    if (here == &places[0].served) [[unlikely]]
      take_place();
  }

  static bool any();
  static void forget();

 private:
  static constexpr size_t most = 64;
  struct alignas(128) Place {
    shm::Word served{0};
  };
  static Place places[most];
  static constinit TUTTI_PER_THREAD shm::Word*
      here;  // the first place until the thread has entered
  static void take_place();
  static size_t places_in_use();
};

}  // namespace tutti::mpi
