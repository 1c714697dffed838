// How a rank writes long data into slots: with plain stores, or past the cache, whichever is
// quicker at the moment.
//
// Plain stores are best while the lines to be written have left the cache of the rank that read
// them (a deep ring) and the cores share a cache. Where they have not, or the cores lie far apart,
// each line waits for the other core's copy to be invalidated; stores past the cache do not wait,
// but their reader fetches from memory. So now and then a plain copy is timed, and while two in a
// row were slow, stores go past the cache (docs/decisions/non-temporal-stores.md). The choice is
// each writer's own, and no other rank sees it. One thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::exec {

class SlotStores {
 public:
  enum class Policy : uint8_t { plain, past_cache, measured };
  // Shorter copies are plain.
  static constexpr size_t least_bytes = 2048;

  explicit SlotStores(Policy policy) : policy_(policy), past_cache_(policy == Policy::past_cache) {}

  // At least least_bytes.
  void copy(void* dst, const void* src, size_t bytes);
  // Takes the time of one plain copy; tests call it, too.
  void note(double nanoseconds_per_line);
  bool past_cache() const { return past_cache_; }

 private:
  Policy policy_;
  bool past_cache_;
  bool was_slow_ = false;
  int until_next_ = 1;  // copies until the next one that is timed
};

}  // namespace tutti::exec
