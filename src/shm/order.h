// Every atomic operation of a protocol between ranks, by name. No other file but base/gpu.h, whose
// flag lies on the path of a call, names a memory order: counters of one process use the default.
// Any thread may use them; structures own the words.
//
// The protocol needs three guarantees. A rank's stores become visible before the number that
// announces them (publish, paired with observe). A rank that is about to sleep is seen by the rank
// that publishes next, or sees what that rank has published (the two fences). Counters that no one
// reads for their order need none (relaxed). docs/memory-model.md has the proof.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tutti::shm {

using Word = std::atomic<uint64_t>;
static_assert(Word::is_always_lock_free, "progress words are shared between processes");

// All earlier stores of this rank are visible to a rank that observes the value.
inline void publish(Word& word, uint64_t value) { word.store(value, std::memory_order_release); }

// Pairs with publish: all stores of the writer before its publish are visible afterwards.
inline uint64_t observe(const Word& word) { return word.load(std::memory_order_acquire); }

// For values that order nothing: statistics, values that the watchdog prints, a rank's own word.
inline uint64_t load_relaxed(const Word& word) { return word.load(std::memory_order_relaxed); }
inline void store_relaxed(Word& word, uint64_t value) {
  word.store(value, std::memory_order_relaxed);
}

// Adds 1 to a word that only this thread changes, and others read as above. Compilers do not make
// one instruction of the load and the store.
inline void count_own(Word& word) {
#if defined(__x86_64__)
  __asm__("incq %0" : "+m"(word) : : "cc");
#else
  store_relaxed(word, load_relaxed(word) + 1);
#endif
}

// A sleeper announces itself, then reads the word a last time; a publisher stores the word, then
// looks for sleepers. Each has this fence between its two steps, so at least one of them sees the
// other (store-load order).
inline void fence_before_looking() { std::atomic_thread_fence(std::memory_order_seq_cst); }

// The doorbell: it counts sleepers, and a ring changes the futex that they sleep on. The fences
// above order both against the words.
using Count = std::atomic<uint32_t>;
inline void enter(Count& sleepers) { sleepers.fetch_add(1, std::memory_order_relaxed); }
inline void leave(Count& sleepers) { sleepers.fetch_sub(1, std::memory_order_relaxed); }
inline uint32_t look(const Count& count) { return count.load(std::memory_order_relaxed); }
inline void ring(Count& rings) { rings.fetch_add(1, std::memory_order_release); }

// For a counter that several threads advance at once and that orders nothing: stores `next` if the
// counter still is `seen`; else updates `seen` and returns false. It may fail spuriously.
inline bool advance(Word& word, uint64_t& seen, uint64_t next) {
  return word.compare_exchange_weak(seen, next, std::memory_order_relaxed);
}

// True for the one thread that changes the word from 0 to `value`, which is not 0. Orders nothing.
inline bool claim(Word& word, uint64_t value) {
  uint64_t seen = 0;
  return word.compare_exchange_strong(seen, value, std::memory_order_relaxed);
}

// True for the one thread that changes the word from `from` to `to`; all stores of the writer of
// `from` before its publish are then visible. For work that exactly one of several threads does.
inline bool take(Word& word, uint64_t from, uint64_t to) {
  return word.compare_exchange_strong(from, to, std::memory_order_acquire);
}

// For a count of uses that several threads change: what a thread did before it counted out is
// visible to a thread that observes the lower count.
inline void count_in(Word& uses) { uses.fetch_add(1, std::memory_order_relaxed); }
inline void count_out(Word& uses) { uses.fetch_sub(1, std::memory_order_release); }

// For a word that several ranks change at once, and by which they hand memory over: what each of
// them did before its change is visible to all that change the word later, or observe it then. Both
// return the value before.
inline uint64_t add(Word& word, uint64_t value) {
  return word.fetch_add(value, std::memory_order_acq_rel);
}
inline uint64_t set_bits(Word& word, uint64_t bits) {
  return word.fetch_or(bits, std::memory_order_acq_rel);
}

// Writes a byte without changing its value, even while other threads write it, so that its page is
// allocated on this thread's numa region.
inline void touch(std::byte* byte) {
  __atomic_fetch_or(reinterpret_cast<unsigned char*>(byte), 0, __ATOMIC_RELAXED);
}

// Tells the processor that this is a spin loop.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace tutti::shm
