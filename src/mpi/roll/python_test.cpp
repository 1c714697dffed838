#include "mpi/roll/python.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace tutti::mpi::roll {
namespace {

using Table = std::array<uint64_t, words_of_python_table>;

// The tables of Python 3.13.0 and of Debian's Python 3.14.10, on x86-64.
// clang-format off
constexpr Table of_3_13 = {
    8750607829840520312, 51183856, 0, 283320, 608, 632, 194968, 7272, 7264, 7344, 7400, 7656,
    7640, 7648, 16, 7752, 0, 7768, 7760, 304, 0, 8, 16, 72, 152, 160, 232, 32, 80, 8, 0, 56, 72,
    70, 208, 112, 120, 128, 136, 68, 52, 96, 104, 200, 16, 8, 416, 24, 88, 168, 32, 24, 16, 40,
    24, 16, 48, 32, 40, 24, 16, 32, 16, 24, 40, 16, 32, 64, 32, 16, 40};
constexpr Table of_3_14 = {
    8750607829840520312, 51251952, 0, 316616, 784, 808, 225864, 7280, 7272, 7344, 7360, 7408,
    7688, 7672, 7680, 16, 7784, 0, 7800, 7792, 7992, 0, 832, 0, 8, 16, 72, 152, 160, 232, 32,
    88, 8, 0, 56, 80, 74, 64, 0, 216, 112, 120, 128, 136, 68, 52, 96, 104, 208, 0, 16, 8, 416,
    24, 88, 168, 40, 32, 16, 40, 24, 16, 200, 24, 40, 32, 48, 32, 40, 24, 16, 32, 16, 24, 40,
    16, 32, 64, 32, 16, 40};
// clang-format on

TEST(Python, TablesOfKnownVersionsAreRead) {
  PythonOffsets expected{.current_frame = 72,
                         .previous = 8,
                         .executable = 0,
                         .instruction = 56,
                         .file = 112,
                         .name = 120,
                         .line_table = 136,
                         .first_line = 68,
                         .first_code = 200,
                         .type = 8,
                         .bytes_size = 16,
                         .bytes = 32,
                         .text_size = 16,
                         .text = 40};
  EXPECT_EQ(python_offsets(of_3_13), expected);
  expected.first_code = 208;
  EXPECT_EQ(python_offsets(of_3_14), expected);
}

TEST(Python, OtherTablesAreRefused) {
  const auto changed = [](Table table, size_t at, uint64_t value) {
    table[at] = value;
    return python_offsets(table);
  };
  EXPECT_FALSE(changed(of_3_13, 0, 0));           // no cookie
  EXPECT_FALSE(changed(of_3_13, 1, 0x030F0000));  // a version to come
  EXPECT_FALSE(changed(of_3_14, 2, 1));           // without the interpreter's lock
  EXPECT_FALSE(changed(of_3_13, 1, of_3_14[1]));  // members elsewhere
  EXPECT_FALSE(changed(of_3_14, 1, of_3_13[1]));
}

// def f(x):
//     a = x
//
//     for i in range(3):
//         print(i,
//               a)
//     return a
TEST(Python, LinesOfInstructions) {
  // Python 3.13 compiles it so, and co_lines() says the same.
  constexpr uint8_t table[] = {128, 0,   216, 8, 9,  128, 65,  228, 13, 18, 144, 49,  142, 88,
                               136, 1,   220, 8, 13, 136, 97,  216, 14, 15, 246, 3,   1,   9,
                               17,  241, 3,   0, 14, 22,  240, 6,   0,  12, 13,  128, 72};
  const auto line = [&](uint64_t offset) { return python_line(table, 1, offset); };
  const std::pair<uint64_t, int> begins[] = {{0, 1},  {2, 2},  {6, 4},  {34, 5},
                                             {46, 6}, {48, 5}, {62, 4}, {66, 7}};
  for (const auto& [offset, expected] : begins) EXPECT_EQ(line(offset), expected) << offset;
  EXPECT_EQ(line(32), 4);
  EXPECT_EQ(line(68), 7);
  EXPECT_FALSE(line(70));  // behind the code
  EXPECT_FALSE(python_line({}, 1, 0));
  constexpr uint8_t none[] = {0x80 | 15 << 3 | 1};  // two units without a line
  EXPECT_FALSE(python_line(none, 1, 2));
  constexpr uint8_t cut[] = {0x80 | 14 << 3};  // the numbers are missing
  EXPECT_EQ(python_line(cut, 9, 0), 9);
}

// The same function.
TEST(Python, LinesOfInstructionsOfPython310) {
  constexpr uint8_t table[] = {4, 1, 12, 2, 4, 1, 2, 1, 6, 255, 4, 2};
  const std::pair<uint64_t, int> begins[] = {{0, 2}, {4, 4}, {16, 5}, {20, 6}, {22, 5}, {28, 7}};
  for (const auto& [offset, expected] : begins)
    EXPECT_EQ(line_of_python_3_10(table, 1, offset), expected) << offset;
  EXPECT_EQ(line_of_python_3_10(table, 1, 14), 4);
  EXPECT_FALSE(line_of_python_3_10(table, 1, 32));  // behind the code
  constexpr uint8_t none[] = {4, 128, 2, 3};        // two units without a line
  EXPECT_FALSE(line_of_python_3_10(none, 1, 2));
  EXPECT_EQ(line_of_python_3_10(none, 1, 4), 4);
}

}  // namespace
}  // namespace tutti::mpi::roll
