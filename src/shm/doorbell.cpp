#include "shm/doorbell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>

namespace tutti::shm {
namespace {

timespec timespec_of(std::chrono::nanoseconds time) {
  constexpr auto second = std::chrono::nanoseconds(std::chrono::seconds(1)).count();
  return {time.count() / second, time.count() % second};
}

}  // namespace

void MachineAtomics::wait(Count& rings, uint32_t seen, std::chrono::nanoseconds limit) {
  const timespec time = timespec_of(limit);
  syscall(SYS_futex, &rings, FUTEX_WAIT, seen, limit.count() < 0 ? nullptr : &time, nullptr, 0);
}

void MachineAtomics::wait_for_either(Count& first, uint32_t seen_of_first, Count& second,
                                     uint32_t seen_of_second, std::chrono::nanoseconds limit) {
#if defined(SYS_futex_waitv) && defined(FUTEX_32)
  const auto awaited = [](Count& rings, uint32_t seen) {
    return futex_waitv{.val = seen,
                       .uaddr = reinterpret_cast<uintptr_t>(&rings),
                       .flags = FUTEX_32,
                       .__reserved = 0};
  };
  futex_waitv both[] = {awaited(first, seen_of_first), awaited(second, seen_of_second)};
  const timespec end = timespec_of(std::chrono::steady_clock::now().time_since_epoch() + limit);
  if (syscall(SYS_futex_waitv, both, 2, 0, limit.count() < 0 ? nullptr : &end, CLOCK_MONOTONIC) >=
          0 ||
      (errno != ENOSYS && errno != EPERM))
    return;
#endif
  if (look(first) != seen_of_first) return;
  constexpr std::chrono::nanoseconds longest = std::chrono::milliseconds(1);
  wait(second, seen_of_second, limit.count() < 0 ? longest : std::min(limit, longest));
}

void MachineAtomics::wake(Count& rings) {
  syscall(SYS_futex, &rings, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace tutti::shm
