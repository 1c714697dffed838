// Since when the threads of this process are where they are. The watchdog's thread alone uses it
// (watchdog.h), and looks at the threads now and then.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mpi/roll/place.h"
#include "shm/order.h"

namespace tutti::mpi::roll {

class Tracking {
 public:
  using Clock = std::chrono::steady_clock;

  // `left_to_host`: counts the collectives that the first thread has left to the host.
  Tracking(int rank, const shm::Word& left_to_host) : rank_(rank), left_to_host_(left_to_host) {}
  // Once, in the thread that looks. That thread has no place.
  void begin();

  // The first thread, and those others that are in a call of MPI, without their source lines. A
  // thread that does not answer now, because it shares its core with many, is where it was when it
  // last answered.
  std::vector<Place> places() const;
  // When look() is to be called. It comes early after a change, so that a call which began
  // meanwhile is seen soon, and when a thread reaches the limit.
  Clock::time_point next_look() const { return next_look_; }
  // Looks at the threads, unless the process has made a collective since the last time. True if a
  // thread has been in one call of MPI for TUTTI_STALL_SECONDS.
  bool look();
  // True if many looks in a row find each thread where it was. Then become_sure() looks no more for
  // some time; it is for a process that another one asks.
  bool stays();
  void become_sure();

 private:
  // Where a thread was when it last answered, and since when it has been there.
  struct Tracked {
    Place place;
    double seconds = 0;
  };

  uint64_t collectives() const;
  bool looks_the_same() const;
  void look_next_after(Clock::duration time) { next_look_ = last_look_ + time; }

  const int rank_;
  const shm::Word& left_to_host_;
  pid_t own_ = 0;  // the number of the thread that looks
  Clock::time_point last_look_{}, next_look_{}, sure_until_{};
  uint64_t seen_ = 0;  // collectives, at the last look
  std::map<pid_t, Tracked> tracked_;
};

}  // namespace tutti::mpi::roll
