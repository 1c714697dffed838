#include "model/shared_link.h"

#include <gtest/gtest.h>

namespace tutti::model {
namespace {

TEST(SharedLink, OneAccessTakesItsOwnTime) {
  SharedLink link(2, 0.5);
  EXPECT_TRUE(link.is_idle());
  link.begin(10, 100, 7);
  EXPECT_EQ(link.next_end(), 210);
  EXPECT_EQ(link.end(210), 7);
  EXPECT_TRUE(link.is_idle());
  EXPECT_EQ(link.busy(), 200);
  EXPECT_EQ(link.bytes(), 100);
}

TEST(SharedLink, AccessesDoNotHinderEachOtherUpToTheLinksSpeed) {
  SharedLink link(2, 0.5);
  for (int rank = 0; rank < 4; ++rank) link.begin(0, 100, rank);
  EXPECT_EQ(link.next_end(), 200) << "4 * 0.5 is the time of one alone";
  EXPECT_EQ(link.most(), 4u);
}

TEST(SharedLink, MoreAccessesShareIt) {
  SharedLink link(2, 1);
  for (int rank = 0; rank < 4; ++rank) link.begin(0, 100, rank);
  EXPECT_EQ(link.next_end(), 400);
}

TEST(SharedLink, AnAccessThatComesLaterSlowsTheOthersDown) {
  SharedLink link(1, 1);
  link.begin(0, 100, 0);
  link.begin(50, 100, 1);
  // 50 bytes are left at 2 ns a byte.
  EXPECT_EQ(link.next_end(), 150);
  EXPECT_EQ(link.end(150), 0);
  // The other has moved 50 bytes, and is alone now.
  EXPECT_EQ(link.next_end(), 200);
  EXPECT_EQ(link.end(200), 1);
  EXPECT_EQ(link.busy(), 200);
}

TEST(SharedLink, WithoutCostsAccessesEndAtOnce) {
  SharedLink link(0, 0);
  link.begin(5, 100, 3);
  EXPECT_EQ(link.next_end(), 5);
  EXPECT_EQ(link.end(5), 3);
}

}  // namespace
}  // namespace tutti::model
