// Fetches memory before it is used, so that several cache misses overlap. Only a hint, so any
// address may be given. Any thread.
#pragma once

#include <cstddef>

namespace tutti {

// Prefetches the cache lines of the bytes [from, to) behind an address. If the address is not the
// start of a cache line, the last line may be left out.
template <size_t from, size_t to>
[[gnu::always_inline]] inline void prefetch(const void* address) {
  constexpr size_t line = 64;
#pragma GCC unroll 8
  for (size_t at = from; at < to; at += line)
    __builtin_prefetch(static_cast<const char*>(address) + at);
}

// Prefetches one cache line that will be written, so that no other core has it when it is.
[[gnu::always_inline]] inline void prefetch_to_write(const void* address) {
#ifdef __x86_64__
  // Compilers use this instruction only if they are told that the processor has it. Processors
  // without it ignore it.
  __asm__ volatile("prefetchw %0" ::"m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1);
#endif
}

}  // namespace tutti
