// When somebody looks again who waits for messages that ring no bell.
#pragma once

#include <algorithm>
#include <chrono>

namespace tutti::rma {

// A server looks at least so often, also for what it is told.
inline constexpr auto longest_rest = std::chrono::milliseconds(100);

// The time until the next look after one that has found nothing, by the time since something came
// last: an eighth of it up to 1 ms, later a 64th of it up to the longest rest. So what comes after
// a long time is late by little of that time, and an idle server uses next to nothing of a core.
inline std::chrono::nanoseconds until_next_look(std::chrono::nanoseconds quiet, bool awake) {
  using Duration = std::chrono::nanoseconds;
  const auto soon = std::min<Duration>(quiet / 8, std::chrono::milliseconds(1));
  return awake ? soon : std::max(soon, std::min<Duration>(quiet / 64, longest_rest));
}

}  // namespace tutti::rma
