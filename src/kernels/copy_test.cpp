#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/table.h"

namespace tutti::kernels {
namespace {

constexpr size_t guard = 64;

// Copies `bytes` between buffers at the given offsets and compares all of dst, including the guards
// around it.
void check_copy(Copy copy_function, size_t bytes, size_t dst_offset, size_t src_offset) {
  std::vector<unsigned char> src(bytes + src_offset + 1);
  for (size_t i = 0; i < src.size(); ++i)
    src[i] = static_cast<unsigned char>(i * 131 + (i >> 8) * 7 + 1);
  std::vector<unsigned char> dst(guard + dst_offset + bytes + guard, 0xa5);
  std::vector<unsigned char> expected = dst;
  std::copy_n(src.begin() + static_cast<ptrdiff_t>(src_offset), bytes,
              expected.begin() + static_cast<ptrdiff_t>(guard + dst_offset));
  copy_function(dst.data() + guard + dst_offset, src.data() + src_offset, bytes);
  ASSERT_EQ(dst, expected) << bytes << " bytes, dst offset " << dst_offset << ", src offset "
                           << src_offset;
}

void copy_inline(void* dst, const void* src, size_t bytes) { copy(dst, src, bytes); }

TEST(Copy, EverySmallSizeAtEveryOffset) {
  for (size_t bytes = 0; bytes <= 160; ++bytes)
    for (size_t dst_offset = 0; dst_offset < 17; ++dst_offset)
      for (size_t src_offset : {0, 1, 8})
        ASSERT_NO_FATAL_FAILURE(check_copy(copy_inline, bytes, dst_offset, src_offset));
}

TEST(Copy, SizesAroundTheChangeToStreaming) {
  for (size_t bytes = copy_stream_least - 3; bytes < copy_stream_least + 300; ++bytes)
    for (size_t dst_offset : {0, 1, 31, 32, 63})
      ASSERT_NO_FATAL_FAILURE(check_copy(copy_inline, bytes, dst_offset, bytes % 64));
}

TEST(Copy, EveryVariantsStream) {
  for (const char* name : {"baseline", "avx2", "avx512"}) {
    const Variant* variant = find_variant(name);
    if (variant == nullptr) continue;
    SCOPED_TRACE(name);
    for (size_t bytes : {2048, 2049, 4095, 4096, 4223, 65536, 1000003})
      for (size_t dst_offset : {0, 1, 15, 16, 33, 63})
        for (size_t src_offset : {0, 1, 40})
          ASSERT_NO_FATAL_FAILURE(
              check_copy(variant->table->copy_stream, bytes, dst_offset, src_offset));
  }
}

TEST(Copy, EveryVariantPastTheCache) {
  for (const char* name : {"baseline", "avx2", "avx512"}) {
    const Variant* variant = find_variant(name);
    if (variant == nullptr) continue;
    SCOPED_TRACE(name);
    for (size_t bytes : {0, 1, 63, 64, 65, 127, 128, 2048, 2049, 16383, 65536})
      for (size_t dst_offset : {0, 1, 2, 9, 32, 63})
        for (size_t src_offset : {0, 1, 40})
          ASSERT_NO_FATAL_FAILURE(
              check_copy(variant->table->copy_through, bytes, dst_offset, src_offset));
  }
}

TEST(Copy, EveryVariantInQuarters) {
  for (const char* name : {"baseline", "avx2", "avx512"}) {
    const Variant* variant = find_variant(name);
    if (variant == nullptr) continue;
    SCOPED_TRACE(name);
    for (size_t bytes : {quarters_least, quarters_least + 1, size_t{9000}, size_t{16383},
                         size_t{65536}, size_t{100003}})
      for (size_t dst_offset : {0, 1, 33})
        for (size_t src_offset : {0, 1, 40})
          ASSERT_NO_FATAL_FAILURE(
              check_copy(variant->table->copy_in_quarters, bytes, dst_offset, src_offset));
  }
}

TEST(Copy, OntoItselfChangesNothing) {
  for (size_t bytes : {0, 1, 3, 7, 8, 15, 31, 48, 49, 1000, 2048, 5000}) {
    std::vector<unsigned char> buffer(bytes);
    for (size_t i = 0; i < bytes; ++i) buffer[i] = static_cast<unsigned char>(i * 37);
    const std::vector<unsigned char> before = buffer;
    copy(buffer.data(), buffer.data(), bytes);
    EXPECT_EQ(buffer, before);
  }
}

}  // namespace
}  // namespace tutti::kernels
