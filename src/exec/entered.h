// The operation that a rank has entered, as it tells its peers, so that they notice a call that
// does not match theirs. Internal to src/exec.
//
// A rank tells it with every number that it publishes, on the same cache line, so that it costs its
// peers nothing. It also tells it when it waits for long.
//
// The base of an operation and its call are two words of the rank's Control, which peers read while
// the rank may already write those of a later operation. The writer clears the base before it
// changes the call; a reader that finds another call than its own looks at the base a second time.
// A reader of a later call sees that the earlier base is gone, because the call is published
// after the base was cleared.
#pragma once

#include <cstdint>

#include "shm/layout.h"

namespace tutti::exec {

inline void say_entered(shm::Control& own, uint64_t base, uint64_t call) {
  shm::store_relaxed(own.entered, 0);
  shm::publish(own.entered_call, call);
  shm::publish(own.entered, base + 1);
}

// True if the peer is in the operation that starts at `base`, but with another call.
inline bool entered_other_call(const shm::Control& peer, uint64_t base, uint64_t call) {
  if (shm::observe(peer.entered) != base + 1 || shm::observe(peer.entered_call) == call)
    return false;
  return shm::observe(peer.entered) == base + 1;
}

}  // namespace tutti::exec
