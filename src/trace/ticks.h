// The clock of traces: the processor's own counter, which one instruction reads, where it runs
// evenly; else the system's monotonic clock in nanoseconds.
//
// Which of the two is decided once for the process (choose_clock, before the first ring exists) and
// constant from then on; any thread may read the clock. All processes of a node choose alike, so
// their ticks can be compared. Ticks of different nodes cannot: the file holds what converts them
// (docs/tracing.md).
#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::trace {

uint64_t monotonic_nanoseconds();

// Decides and says which clock it is: "tsc", "cntvct" or "monotonic".
std::string_view choose_clock();

#if defined(__x86_64__)
extern constinit bool counter_serves;
#endif

// Reads the clock after everything before it has been executed: with a plain rdtsc the end of a
// wait could be read while the awaited value is still on its way, and be earlier than the
// publication that ended the wait.
inline uint64_t ticks() {
#if defined(__x86_64__)
  if (counter_serves) [[likely]] {
    uint32_t low, high;
    asm volatile("rdtscp" : "=a"(low), "=d"(high) : : "ecx", "memory");
    return uint64_t{high} << 32 | low;
  }
#elif defined(__aarch64__)
  uint64_t value;
  asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(value) : : "memory");
  return value;
#endif
  return monotonic_nanoseconds();
}

// One moment by both clocks, as close together as the better of some tries.
struct Moment {
  uint64_t ticks = 0;
  uint64_t nanoseconds = 0;
};
Moment now_by_both();

}  // namespace tutti::trace
