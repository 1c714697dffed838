// Parts: where they begin, and the modes of the threads that execute them.
#include <gtest/gtest.h>

#include <cfenv>
#include <cstddef>
#include <thread>
#include <vector>

#include "kernels/parts.h"

namespace tutti::kernels {
namespace {

// A Parallel of *threads threads, but the calling one executes all parts, the last first.
Parallel backwards(int* threads) {
  return {[](void* context) { return *static_cast<int*>(context); },
          [](void*, int parts, void (*part)(void*, int), void* argument) {
            for (int number = parts - 1; number >= 0; --number) part(argument, number);
          },
          threads};
}

TEST(Parts, CoverEveryByteOnce) {
  for (int threads : {-1, 0, 1, 2, 3, 7, 1000})
    for (const size_t element : {1, 2, 16, 12})
      for (const size_t bytes : {size_t{0}, size_t{24}, least_part, 2 * least_part - element,
                                 2 * least_part, 5 * least_part + 240, 16 * least_part - 48}) {
        const Parallel parallel = backwards(&threads);
        const Parts parts(&parallel, bytes, element);
        const auto count = static_cast<size_t>(parts.count());
        EXPECT_LE(count, static_cast<size_t>(std::max(threads, 1)));
        EXPECT_LE(count, std::max(bytes / least_part, size_t{1}));
        EXPECT_EQ(count > 1, threads > 1 && bytes >= 2 * least_part);
        std::vector<size_t> begins(count), ends(count);
        parts.run([&](int number, size_t at, size_t length) {
          EXPECT_EQ(at % element, 0u);
          EXPECT_EQ(at % 4096, 0u);
          begins[static_cast<size_t>(number)] = at;
          ends[static_cast<size_t>(number)] = at + length;
        });
        EXPECT_EQ(begins.front(), 0u);
        EXPECT_EQ(ends.back(), bytes);
        for (size_t i = 1; i < count; ++i) {
          EXPECT_EQ(begins[i], ends[i - 1]);
          EXPECT_LT(begins[i], ends[i]);
        }
      }
}

TEST(Parts, OneThreadNeedsNoParallel) {
  int calls = 0;
  const Parts parts(nullptr, 100 * least_part);
  parts.run([&](int number, size_t at, size_t length) {
    EXPECT_EQ(number, 0);
    EXPECT_EQ(at, 0u);
    EXPECT_EQ(length, 100 * least_part);
    ++calls;
  });
  EXPECT_EQ(calls, 1);
}

// A thread that has another mode of rounding would compute other sums.
TEST(Parts, HaveTheModesOfTheCallingThread) {
  int modes_after = -1;
  const Parallel parallel{[](void*) { return 2; },
                          [](void* context, int parts, void (*part)(void*, int), void* argument) {
                            std::thread([&] {
                              std::fesetround(FE_TONEAREST);
                              for (int number = 0; number < parts; ++number) part(argument, number);
                              *static_cast<int*>(context) = std::fegetround();
                            }).join();
                          },
                          &modes_after};
  const int before = std::fegetround();
  std::fesetround(FE_UPWARD);
  int modes[2] = {-1, -1};
  Parts(&parallel, 2 * least_part).run([&](int number, size_t, size_t) {
    modes[number] = std::fegetround();
  });
  std::fesetround(before);
  EXPECT_EQ(modes[0], FE_UPWARD);
  EXPECT_EQ(modes[1], FE_UPWARD);
  EXPECT_EQ(modes_after, FE_TONEAREST);
}

}  // namespace
}  // namespace tutti::kernels
