#include "trace/ticks.h"

#include <chrono>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tutti::trace {

uint64_t monotonic_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

#if defined(__x86_64__)
constinit bool counter_serves = false;

namespace {

// The processor has rdtscp, and its counter keeps one rate in all power states.
bool processor_promises() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0x80000001u, &a, &b, &c, &d) == 0 || (d & 1u << 27) == 0) return false;
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
}

// The kernel compares the counters of all cores, and removes the clock from its list where they
// disagree.
bool kernel_trusts() {
  std::ifstream list("/sys/devices/system/clocksource/clocksource0/available_clocksource");
  std::string word;
  bool any = false;
  while (list >> word) {
    if (word == "tsc") return true;
    any = true;
  }
  return !any;  // an empty list says nothing
}

}  // namespace
#endif

std::string_view choose_clock() {
#if defined(__x86_64__)
  static const bool chosen = counter_serves = processor_promises() && kernel_trusts();
  return chosen ? "tsc" : "monotonic";
#elif defined(__aarch64__)
  return "cntvct";
#else
  return "monotonic";
#endif
}

Moment now_by_both() {
  constexpr int tries = 20;
  Moment best;
  uint64_t narrowest = UINT64_MAX;
  for (int i = 0; i < tries; ++i) {
    const uint64_t before = ticks();
    const uint64_t nanoseconds = monotonic_nanoseconds();
    const uint64_t after = ticks();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = {before + narrowest / 2, nanoseconds};
  }
  return best;
}

Moment later_by_both(const Moment& first) {
  constexpr uint64_t least_distance = 20'000'000;  // nanoseconds; less is too inaccurate
  const uint64_t passed = monotonic_nanoseconds() - first.nanoseconds;
  if (passed < least_distance)
    std::this_thread::sleep_for(std::chrono::nanoseconds(least_distance - passed));
  return now_by_both();
}

}  // namespace tutti::trace
