// Waits that use no core (tutti-run --idle sleep, TUTTI_WAIT=sleep).
//
// Each rank of a node has a doorbell, on which its threads sleep when they have waited for long.
// Whoever does something that a rank may wait for rings for it, or for all ranks of the node, if
// they sleep. Nobody rings for a message from another node or for one of the host's own; it is
// found when a sleep ends. A sleep takes 1% of the time that the wait has taken so far, and 20 ms
// at most, or 2 ms in a job of several nodes. (A wake-up takes 33 us of a core in a virtual
// machine.) After a ring the host's messages may go to and fro, so further sleeps take a quarter of
// the time since then at most.
//
// sleep_when_idle and wake_when_idle are for one thread at a time, inside MPI_Init and
// MPI_Finalize. The rest is for any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "shm/doorbell.h"
#include "shm/order.h"

namespace tutti::exec {

// The doorbells of the ranks of a node.
struct IdleBells {
  std::byte* first;
  size_t stride;
  int ranks;
  int own;
  std::chrono::microseconds longest_sleep;

  shm::Doorbell& of(int rank) const {
    return *reinterpret_cast<shm::Doorbell*>(first + static_cast<size_t>(rank) * stride);
  }
};

// From now on waits sleep. The doorbells stay where they are until wake_when_idle.
void sleep_when_idle(const IdleBells& bells);
// From now on they do not.
void wake_when_idle();

inline constinit shm::Word idle_waits_sleep{0};
inline bool sleeps_when_idle() { return shm::load_relaxed(idle_waits_sleep) != 0; }

// The doorbells; null if waits do not sleep.
const IdleBells* idle_bells();

// The longest sleep of a wait that has taken this time.
std::chrono::microseconds sleep_after(std::chrono::nanoseconds waited,
                                      std::chrono::microseconds longest);

// One wait's sleeps on the doorbell of its rank.
class IdleSleeps {
 public:
  IdleSleeps() = default;
  ~IdleSleeps() { leave(); }
  IdleSleeps(const IdleSleeps&) = delete;
  IdleSleeps& operator=(const IdleSleeps&) = delete;

  // Sleeps once. The first one only enters: what was rung for before is found by the polls that
  // follow. True if it was rung for.
  bool sleep(const IdleBells& bells, std::chrono::microseconds limit) {
    return sleep_by(bells, [&](shm::Doorbell& own) { return own.sleep(seen_rings_, limit); });
  }
  // The same, also on the bell of a peer, which rings after publishing what ready() reads. That
  // ring is not told of.
  template <class Ready>
  bool sleep_beside(const IdleBells& bells, shm::Doorbell& peer, Ready ready,
                    std::chrono::microseconds limit) {
    return sleep_by(bells, [&](shm::Doorbell& own) {
      return own.sleep_beside(seen_rings_, peer, ready, limit);
    });
  }
  // The wait is over.
  void leave();

 private:
  template <class Sleep>
  bool sleep_by(const IdleBells& bells, Sleep sleep) {
    shm::Doorbell& own = bells.of(bells.own);
    if (!std::exchange(is_at_bell_, true)) {
      seen_rings_ = own.enter();
      return false;
    }
    const uint32_t rings = sleep(own);
    return std::exchange(seen_rings_, rings) != rings;
  }

  bool is_at_bell_ = false;
  uint32_t seen_rings_ = 0;
};

// Call these after what the ranks may wait for. A rank that is not of the node is left out.
void ring_idle(int rank);
void ring_all_idle();

}  // namespace tutti::exec
