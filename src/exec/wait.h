// Waiting for one value of one peer, or for whichever of several comes first: polled here,
// everything slow in wait.cpp.
//
// A short spin is the whole cost where the value is about to come. After it: the progress hook (the
// host MPI may have to move a message before the peer can arrive), yields, sleep on the peer's
// doorbell where ranks outnumber cores, a look whether the peer still lives, and the watchdog's
// report.
#pragma once

#include "exec/executor.h"
#include "shm/order.h"

namespace tutti::exec {

// What is waited for: a progress word that is at least `value`, or a line's stamp that is exactly
// it.
struct Awaited {
  const shm::Word* word;
  uint64_t value;
  int32_t peer;
  const shm::Line* line;  // null where a progress word is awaited

  bool here() const {
    const uint64_t seen = shm::observe(*word);
    return line != nullptr ? seen == value : seen >= value;
  }
};

// Out of line, so that the path of a call that need not wait stays short. `call` is this rank's,
// for messages.
[[gnu::noinline]] Code wait_for(Channel& channel, const Awaited& awaited, uint64_t call);

// For a line, by what the short path has in registers.
[[gnu::noinline]] Code wait_for_line(Channel& channel, const shm::Line& line, uint64_t number,
                                     int32_t peer, uint64_t call);

// Until one of several is here; `count` is at least 1. Who has found one polls the others before it
// waits again.
[[gnu::noinline]] Code wait_for_any(Channel& channel, const Awaited* awaited, int count,
                                    uint64_t call);

// Wakes whoever sleeps until this rank publishes. Only where ranks outnumber cores: nobody sleeps
// elsewhere.
void wake_sleepers(shm::Control& own);

}  // namespace tutti::exec
