// Asks for memory before it is used, so that several misses pass at once. A hint: any address will
// do.
#pragma once

#include <cstddef>

namespace tutti {

// The cache lines of the bytes [from, to) behind an address that begins one; behind any other
// address, all of them but maybe the last.
template <size_t from, size_t to>
[[gnu::always_inline]] inline void prefetch(const void* address) {
  constexpr size_t line = 64;
#pragma GCC unroll 8
  for (size_t at = from; at < to; at += line)
    __builtin_prefetch(static_cast<const char*>(address) + at);
}

}  // namespace tutti
