#include "exec/core_watch.h"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <new>

#include "placement/cores.h"

namespace tutti::exec {
namespace {

using Clock = std::chrono::steady_clock;
using placement::CoreMask;

constexpr auto looks_every = std::chrono::milliseconds(100);

struct Watched {
  std::mutex mutex;
  std::vector<int64_t> processes;
};
Watched& watched() {
  static Watched* const all = new Watched;  // threads may wait while the program ends
  return *all;
}

struct Seen {
  bool shares = false;
  Clock::time_point next_look{};
};
constinit thread_local Seen seen;

bool look() {
  std::vector<CoreMask> masks{placement::usable_cores()};
  const std::lock_guard lock(watched().mutex);
  std::erase_if(watched().processes, [&](int64_t process) {
    const CoreMask mask = placement::usable_cores(process);
    if (mask.any()) masks.push_back(mask);
    return mask.none();  // it has ended
  });
  return placement::shares_core(masks, 0);
}

// A wait must not end because memory has run out.
bool look_if_due(Clock::time_point now) noexcept {
  if (now < seen.next_look) return seen.shares;
  seen.next_look = now + looks_every;
  try {
    seen.shares = look();
  } catch (const std::bad_alloc&) {
  }
  return seen.shares;
}

}  // namespace

void watch_cores_of(const std::vector<int64_t>& processes) {
  const std::lock_guard lock(watched().mutex);
  auto& known = watched().processes;
  for (const int64_t process : processes) {
    if (process != 0 && process != getpid() &&
        std::find(known.begin(), known.end(), process) == known.end())
      known.push_back(process);
  }
}

bool shares_core(Clock::time_point now) { return seen.shares && look_if_due(now); }

bool shares_core_in_long_wait(Clock::time_point now) { return look_if_due(now); }

}  // namespace tutti::exec
