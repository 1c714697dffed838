// The clock of traces. Where the processor's counter has a constant rate, the clock is that
// counter, which one instruction reads; elsewhere it is the system's monotonic clock, in
// nanoseconds.
//
// choose_clock decides once for the process, before the first ring exists; any thread may read the
// clock. All processes of a node choose the same clock, so their ticks can be compared. Ticks of
// different nodes cannot be compared as they are; the file has the lines that convert them
// (docs/tracing.md).
#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::trace {

uint64_t monotonic_nanoseconds();

// Chooses the clock and returns its name: "tsc", "cntvct" or "monotonic".
std::string_view choose_clock();

#if defined(__x86_64__)
extern constinit bool counter_serves;
#endif

// Reads the clock after all earlier instructions have been executed. A plain rdtsc could read the
// end of a wait while the awaited value is still on its way, and so before the publication that
// ended the wait.
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

// One moment by both clocks: of some tries, the one in which the two were read closest together.
struct Moment {
  uint64_t ticks = 0;
  uint64_t nanoseconds = 0;
};
Moment now_by_both();
// The same, but waits until the two moments are far enough apart to tell the clock's rate.
Moment later_by_both(const Moment& first);

}  // namespace tutti::trace
