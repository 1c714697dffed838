#include "exec/leaving.h"

#include <gtest/gtest.h>

namespace tutti::exec {
namespace {

constexpr size_t half = plan::most_leaving / 2;

TEST(Leaving, LongMessagesWaitForTheEarlierOnes) {
  LeavingMessages leaving;
  EXPECT_EQ(leaving.awaited(10 * half, 100), nullptr) << "alone a message may have any length";
  leaving.begin({.request = 7, .peer = 1, .bytes = half, .posted = 1});
  EXPECT_EQ(leaving.awaited(half, 100), nullptr);
  leaving.begin({.request = 9, .peer = 2, .bytes = half, .posted = 2});
  LeavingMessages::Message* const oldest = leaving.awaited(half, 100);
  ASSERT_NE(oldest, nullptr);
  EXPECT_EQ(oldest->request, 7u);
  EXPECT_EQ(oldest->peer, 1);
  oldest->ended = true;
  EXPECT_EQ(leaving.awaited(half, 100), nullptr);
  EXPECT_EQ(leaving.awaited(half + 1, 100)->request, 9u);
  EXPECT_TRUE(leaving.remove(7)) << "it has ended already";
  EXPECT_FALSE(leaving.remove(9));
  EXPECT_FALSE(leaving.remove(11)) << "a short message";
  EXPECT_EQ(leaving.awaited(10 * half, 100), nullptr);
}

// A message that its receiver posts later in the one order may end later, so it is not awaited.
TEST(Leaving, NoMessageThatIsPostedLaterIsAwaited) {
  LeavingMessages leaving;
  leaving.begin({.request = 1, .peer = 1, .bytes = 4 * half, .posted = 50});
  leaving.begin({.request = 2, .peer = 2, .bytes = 4 * half, .posted = 20});
  EXPECT_EQ(leaving.awaited(half, 20), nullptr);
  EXPECT_EQ(leaving.awaited(half, 21)->request, 2u);
  EXPECT_EQ(leaving.awaited(half, 51)->request, 1u);
}

}  // namespace
}  // namespace tutti::exec
