#include "exec/slot_stores.h"

#include <chrono>

#include "exec/slow_stores.h"
#include "kernels/kernels.h"

namespace tutti::exec {
namespace {

// The limit while stores go past the cache. The reader's cache then holds the lines that a timed
// plain copy writes, and each waits for its invalidation: 7 ns between near cores. In a deep ring
// plain copies that follow each other need not wait for it.
constexpr double slow_nanoseconds_past_cache = 14;
// Timing costs nothing while plain stores are in use; it costs a slow copy while they are not.
constexpr int apart_while_plain = 8;
constexpr int apart_while_past_cache = 128;

}  // namespace

void SlotStores::note(double nanoseconds_per_line) {
  if (policy_ != Policy::measured) return;
  const bool slow =
      nanoseconds_per_line > (past_cache_ ? slow_nanoseconds_past_cache : slow_nanoseconds);
  past_cache_ = slow && was_slow_;
  was_slow_ = slow;
  until_next_ = past_cache_ ? apart_while_past_cache : apart_while_plain;
}

void SlotStores::copy(void* dst, const void* src, size_t bytes) {
  using Clock = std::chrono::steady_clock;
  if (policy_ == Policy::measured && bytes >= least_timed && --until_next_ <= 0) {
    const auto begin = Clock::now();
    kernels::copy(dst, src, bytes);
    const std::chrono::duration<double, std::nano> taken = Clock::now() - begin;
    note(taken.count() * stored_line / static_cast<double>(bytes));
  } else if (past_cache_) {
    kernels::copy_through(dst, src, bytes);
  } else {
    kernels::copy(dst, src, bytes);
  }
}

}  // namespace tutti::exec
