#include "rma/window.h"

#include <gtest/gtest.h>

#include <vector>

namespace tutti::rma {
namespace {

using std::chrono::microseconds;

constexpr size_t piece = 64;

// Sends as much as has room, in a network with this round trip that lets a piece pass in each
// `gap`. All are answered before more are sent.
void fill(Window& window, microseconds round_trip, microseconds gap) {
  std::vector<size_t> filled;
  while (window.has_room()) filled.push_back(window.sent(piece));
  microseconds took = round_trip;
  for (const size_t one : filled) {
    window.answered(piece, took, one);
    took += gap;
  }
}

std::vector<size_t> pieces_by_round(size_t first, size_t most, microseconds round_trip,
                                    microseconds gap) {
  Window window(first * piece, most * piece);
  std::vector<size_t> all;
  for (int i = 0; i < 6; ++i) {
    fill(window, round_trip, gap);
    all.push_back(window.limit() / piece);
  }
  return all;
}

TEST(Window, DoublesInEachRoundTripWhileMessagesDoNotDelayEachOther) {
  EXPECT_EQ(pieces_by_round(4, 20, microseconds(1000), microseconds(0)),
            (std::vector<size_t>{8, 16, 20, 20, 20, 20}));
}

// A round trip holds 2 pieces, or 20, or less than one.
TEST(Window, StopsWhereMessagesDelayEachOther) {
  EXPECT_EQ(pieces_by_round(4, 1000, microseconds(100), microseconds(50)).back(), 8U);
  EXPECT_EQ(pieces_by_round(4, 1000, microseconds(1000), microseconds(50)).back(), 64U);
  EXPECT_EQ(pieces_by_round(4, 1000, microseconds(10), microseconds(50)).back(), 4U);
}

TEST(Window, ShrinksWhileTheNetworkIsMuchSlower) {
  Window window(4 * piece, 64 * piece);
  for (int i = 0; i < 6; ++i) fill(window, microseconds(100), microseconds(0));
  EXPECT_EQ(window.limit(), 64 * piece);
  fill(window, microseconds(1000), microseconds(0));
  EXPECT_EQ(window.limit(), 64 * piece);
  for (const size_t left : {32, 16, 8, 4, 4}) {
    fill(window, microseconds(2000), microseconds(0));
    EXPECT_EQ(window.limit(), left * piece);
  }
  fill(window, microseconds(100), microseconds(0));
  EXPECT_EQ(window.limit(), 8 * piece);
}

// A piece is sent for each that is answered, so all find a full window.
TEST(Window, DoublesOnceInARoundTripOfASteadyStream) {
  Window window(4 * piece, 1000 * piece);
  std::vector<size_t> filled;
  while (window.has_room()) filled.push_back(window.sent(piece));
  for (size_t i = 0; i < 4; ++i) {
    window.answered(piece, microseconds(100), filled[i]);
    while (window.has_room()) filled.push_back(window.sent(piece));
  }
  EXPECT_EQ(window.limit(), 8 * piece);
}

TEST(Window, GrowsOnlyIfItWasFull) {
  Window window(4 * piece, 100 * piece);
  for (int i = 0; i < 100; ++i) window.answered(piece, microseconds(1), window.sent(piece));
  EXPECT_EQ(window.limit(), 4 * piece);
  EXPECT_EQ(window.under_way(), 0U);
}

TEST(Window, StaysIfItMayNotGrow) {
  EXPECT_EQ(pieces_by_round(1, 1, microseconds(1), microseconds(0)).back(), 1U);
}

}  // namespace
}  // namespace tutti::rma
