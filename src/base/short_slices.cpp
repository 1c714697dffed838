#include "base/short_slices.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace tutti {
namespace {

// The kernel's sched_attr as of its first version, which the C library may not declare.
struct Attributes {
  uint32_t size;
  uint32_t policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t slice;  // ns; sched_runtime
  uint64_t deadline;
  uint64_t period;
};
static_assert(sizeof(Attributes) == 48);

constexpr uint64_t shortest = 100'000;  // the shortest slice that Linux accepts

}  // namespace

void ask_for_short_slices() {
  Attributes attributes{};
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 ||
      attributes.policy != SCHED_OTHER)
    return;
  attributes.size = sizeof attributes;
  attributes.slice = shortest;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace tutti
