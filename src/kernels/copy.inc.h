// The kernels of long copies, compiled once for each instruction set (reduce.inc.h has the rules of
// such a file). Pure functions, for any thread.
//
// They use plain vector stores to aligned addresses. The C library's memcpy is as fast as long as
// it does the same. Above some size it may use string instructions, which took up to 3 times as
// long here for some offsets between dst and src. Above a larger size it uses non-temporal stores,
// which bypass the cache that the reader looks in.
#pragma once

#include <stddef.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tutti::kernels {
namespace {

#if defined(__AVX2__)
// Wider vectors are no faster, and each unaligned load would then touch two cache lines.
constexpr size_t vector_bytes = 32;
#else
constexpr size_t vector_bytes = 16;
#endif
typedef unsigned char Vector __attribute__((vector_size(vector_bytes), may_alias));
typedef Vector LooseVector __attribute__((aligned(1)));  // at any address
constexpr size_t stride_bytes = 4 * vector_bytes;

struct Stride {
  Vector first, second, third, fourth;
};

// Types are spelled out here: `auto` and template arguments lose a type's alignment.
inline Stride load(const unsigned char* src) {
  const LooseVector* from = reinterpret_cast<const LooseVector*>(src);
  return {from[0], from[1], from[2], from[3]};
}

inline void store(unsigned char* dst, const Stride& stride) {
  LooseVector* to = reinterpret_cast<LooseVector*>(dst);
  to[0] = stride.first;
  to[1] = stride.second;
  to[2] = stride.third;
  to[3] = stride.fourth;
}

// Needs at least stride_bytes. The last stride is stored whole; it may overwrite bytes that are
// stored already, with the same values.
void copy_stream(void* dst, const void* src, size_t bytes) {
  auto* to = static_cast<unsigned char*>(dst);
  const auto* from = static_cast<const unsigned char*>(src);
  const size_t last = bytes - stride_bytes;
  store(to, load(from));
  for (size_t at = vector_bytes - reinterpret_cast<uintptr_t>(to) % vector_bytes; at < last;
       at += stride_bytes)
    store(to + at, load(from + at));
  store(to + last, load(from + last));
}

// Copies four quarters at once, so that more cache lines are in flight: for data that is in memory
// or in a distant cache. Needs at least quarters_least bytes.
void copy_in_quarters(void* dst, const void* src, size_t bytes) {
  auto* to = static_cast<unsigned char*>(dst);
  const auto* from = static_cast<const unsigned char*>(src);
  const size_t quarter = bytes / 4 / stride_bytes * stride_bytes;
  for (size_t at = 0; at < quarter; at += stride_bytes) {
    for (size_t stream = 0; stream < 4; ++stream) {
      const size_t place = stream * quarter + at;
      store(to + place, load(from + place));
    }
  }
  size_t at = 4 * quarter;
  for (; at + stride_bytes <= bytes; at += stride_bytes) store(to + at, load(from + at));
  if (at < bytes) store(to + bytes - stride_bytes, load(from + bytes - stride_bytes));
}

constexpr size_t cache_line = 64;

#if defined(__AVX2__)
inline void store_through(unsigned char* dst, const unsigned char* src) {
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src));
  const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src + 32));
  _mm256_stream_si256(reinterpret_cast<__m256i*>(dst), low);
  _mm256_stream_si256(reinterpret_cast<__m256i*>(dst + 32), high);
}
inline void order_stores() { _mm_sfence(); }
#elif defined(__x86_64__)
inline void store_through(unsigned char* dst, const unsigned char* src) {
  for (size_t at = 0; at < cache_line; at += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(dst + at),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(src + at)));
  }
}
inline void order_stores() { _mm_sfence(); }
#else
inline void store_through(unsigned char* dst, const unsigned char* src) {
  __builtin_memcpy(dst, src, cache_line);
}
inline void order_stores() {}
#endif

// Stores whole cache lines past the cache, and the bytes before the first and after the last whole
// line by plain stores. A release store does not order stores past the cache, so they are fenced
// here.
void copy_lines_through(void* dst, const void* src, size_t bytes) {
  auto* to = static_cast<unsigned char*>(dst);
  const auto* from = static_cast<const unsigned char*>(src);
  const size_t to_line = (cache_line - reinterpret_cast<uintptr_t>(to) % cache_line) % cache_line;
  size_t at = to_line < bytes ? to_line : bytes;
  __builtin_memcpy(to, from, at);
  for (; at + cache_line <= bytes; at += cache_line) store_through(to + at, from + at);
  __builtin_memcpy(to + at, from + at, bytes - at);
  order_stores();
}

}  // namespace
}  // namespace tutti::kernels
