#include "exec/slot_stores.h"

#include <gtest/gtest.h>

#include <vector>

namespace tutti::exec {
namespace {

TEST(SlotStores, GoPastTheCacheAfterTwoSlowCopiesAndComeBackAfterAQuickOne) {
  SlotStores stores(SlotStores::Policy::measured);
  stores.note(20);
  EXPECT_FALSE(stores.past_cache());  // one may have been interrupted
  stores.note(20);
  EXPECT_TRUE(stores.past_cache());
  stores.note(1);
  EXPECT_FALSE(stores.past_cache());
  stores.note(20);
  EXPECT_FALSE(stores.past_cache());
}

TEST(SlotStores, CopyWhateverTheyAre) {
  for (const auto policy :
       {SlotStores::Policy::plain, SlotStores::Policy::past_cache, SlotStores::Policy::measured}) {
    SlotStores stores(policy);
    for (int round = 0; round < 300; ++round) {
      const size_t bytes = SlotStores::least_bytes + static_cast<size_t>(round) * 37;
      std::vector<unsigned char> from(bytes, static_cast<unsigned char>(round)),
          to(bytes + 1, 0xFF);
      stores.copy(to.data(), from.data(), bytes);
      to.pop_back();
      ASSERT_EQ(to, from);
      if (round == 100) stores.note(20), stores.note(20);
    }
    if (policy != SlotStores::Policy::measured) {
      EXPECT_EQ(stores.past_cache(), policy == SlotStores::Policy::past_cache);
    }
  }
}

// Nanoseconds a line, as timed.
TEST(SlotStores, GoPastTheCacheWhileInvalidationsAreFar) {
  SlotStores stores(SlotStores::Policy::measured);
  for (const double near : {2.0, 9.0, 9.0, 30.0, 5.0, 30.0}) stores.note(near);
  EXPECT_FALSE(stores.past_cache());  // one slow copy is an accident
  stores.note(28);
  EXPECT_TRUE(stores.past_cache());
  stores.note(28);
  EXPECT_TRUE(stores.past_cache());
}

TEST(SlotStores, ComeBackByWhatNearCoresTakeForLinesInTheReadersCache) {
  SlotStores stores(SlotStores::Policy::measured);
  for (const double far : {28.0, 28.0}) stores.note(far);
  ASSERT_TRUE(stores.past_cache());
  for (const double near : {12.0, 7.0, 3.0}) {
    stores.note(near);
    EXPECT_FALSE(stores.past_cache()) << near;
  }
}

}  // namespace
}  // namespace tutti::exec
