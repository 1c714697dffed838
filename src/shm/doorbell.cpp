#include "shm/doorbell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace tutti::shm {

void MachineAtomics::wait(Count& rings, uint32_t seen, std::chrono::nanoseconds limit) {
  constexpr auto second = std::chrono::nanoseconds(std::chrono::seconds(1)).count();
  const timespec time{limit.count() / second, limit.count() % second};
  syscall(SYS_futex, &rings, FUTEX_WAIT, seen, limit.count() < 0 ? nullptr : &time, nullptr, 0);
}

void MachineAtomics::wake(Count& rings) {
  syscall(SYS_futex, &rings, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace tutti::shm
