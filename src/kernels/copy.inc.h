// The long copy, compiled once for each instruction set (see reduce.inc.h for the rules of such a
// file).
//
// Plain vector stores to aligned addresses. The C library's memcpy is as fast where it uses the
// same, but above some size it may take string instructions, which took up to 3 times as long here
// where dst and src were offset unluckily, and above a further one non-temporal stores, which send
// the data past the cache its reader looks in.
#pragma once

#include <stddef.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tutti::kernels {
namespace {

#if defined(__AVX2__)
constexpr size_t vector_bytes =
    32;  // wider is no faster, and a cache line border is then crossed by every load
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

// Needs stride_bytes or more. The last stride is stored whole, over what is already there if need
// be.
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

// Four streams at once, a quarter of the whole apart, so that more lines are on their way: for what
// comes from memory or from far. Needs quarters_least bytes or more.
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

// Whole cache lines past the cache, what is left over at either end by plain stores. A release
// store does not order stores past the cache, so the fence is here.
void copy_lines_through(void* dst, const void* src, size_t bytes) {
  auto* to = static_cast<unsigned char*>(dst);
  const auto* from = static_cast<const unsigned char*>(src);
  const size_t to_border = (cache_line - reinterpret_cast<uintptr_t>(to) % cache_line) % cache_line;
  size_t at = to_border < bytes ? to_border : bytes;
  __builtin_memcpy(to, from, at);
  for (; at + cache_line <= bytes; at += cache_line) store_through(to + at, from + at);
  __builtin_memcpy(to + at, from + at, bytes - at);
  order_stores();
}

}  // namespace
}  // namespace tutti::kernels
