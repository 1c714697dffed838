// For tests: which sanitizer the build has. Tests take ten times as long then, and what a sanitizer
// looks for shows in fewer ranks, plans or seeds than what a test itself looks for; the usual build
// runs all of them.
#pragma once

namespace tutti {

#ifdef __SANITIZE_THREAD__
inline constexpr bool looks_for_races = true;
#else
inline constexpr bool looks_for_races = false;
#endif

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool looks_at_memory = true;
#else
inline constexpr bool looks_at_memory = false;
#endif

}  // namespace tutti
