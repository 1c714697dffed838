#include "model/shared_link.h"

#include <gtest/gtest.h>

namespace tutti::model {
namespace {

// Accesses of 100 bytes that take b ns for each byte alone, on a link that moves one in B ns.
struct Accesses {
  double b, B;
  void begin(SharedLink& link, double now, size_t user) const {
    link.begin(now, 100 * b, B / b, 100, user);
  }
};

TEST(SharedLink, OneAccessTakesItsOwnTime) {
  SharedLink link;
  const Accesses accesses{2, 0.5};
  EXPECT_TRUE(link.is_idle());
  accesses.begin(link, 10, 7);
  EXPECT_EQ(link.next_end(), 210);
  EXPECT_EQ(link.end(210), 7u);
  EXPECT_TRUE(link.is_idle());
  EXPECT_EQ(link.busy(), 200);
  EXPECT_EQ(link.bytes(), 100);
}

TEST(SharedLink, AccessesDoNotHinderEachOtherUpToTheLinksSpeed) {
  SharedLink link;
  for (size_t user = 0; user < 4; ++user) Accesses{2, 0.5}.begin(link, 0, user);
  EXPECT_EQ(link.next_end(), 200) << "4 * 0.5 is the time of one alone";
  EXPECT_EQ(link.most(), 4u);
}

TEST(SharedLink, MoreAccessesShareIt) {
  SharedLink link;
  for (size_t user = 0; user < 4; ++user) Accesses{2, 1}.begin(link, 0, user);
  EXPECT_EQ(link.next_end(), 400);
}

TEST(SharedLink, AnAccessThatComesLaterSlowsTheOthersDown) {
  SharedLink link;
  const Accesses accesses{1, 1};
  accesses.begin(link, 0, 0);
  accesses.begin(link, 50, 1);
  // 50 bytes are left at 2 ns a byte.
  EXPECT_EQ(link.next_end(), 150);
  EXPECT_EQ(link.end(150), 0u);
  // The other has moved 50 bytes, and is alone now.
  EXPECT_EQ(link.next_end(), 200);
  EXPECT_EQ(link.end(200), 1u);
  EXPECT_EQ(link.busy(), 200);
}

TEST(SharedLink, AccessesOfDifferentSpeedsSlowDownAlike) {
  SharedLink link;
  Accesses{1, 0.75}.begin(link, 0, 0);  // needs three quarters of the link
  Accesses{3, 1.5}.begin(link, 0, 1);   // needs a half
  EXPECT_EQ(link.next_end(), 125);
  EXPECT_EQ(link.end(125), 0u);
  EXPECT_EQ(link.next_end(), 325) << "100 of its 300 ns are done";
}

TEST(SharedLink, WithoutCostsAccessesEndAtOnce) {
  SharedLink link;
  link.begin(5, 0, 0, 100, 3);
  EXPECT_EQ(link.next_end(), 5);
  EXPECT_EQ(link.end(5), 3u);
}

}  // namespace
}  // namespace tutti::model
