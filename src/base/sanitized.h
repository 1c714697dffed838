// The sanitizer of the build, as constants for tests. Tests take ten times as long under a
// sanitizer, so they try fewer ranks, plans or seeds there, which is enough for what a sanitizer
// finds. The usual build tries all.
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
