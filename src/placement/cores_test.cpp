#include "placement/cores.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace tutti::placement {
namespace {

CoreMask mask_of(std::initializer_list<size_t> cores) {
  CoreMask mask;
  for (const size_t core : cores) mask[core] = true;
  return mask;
}

TEST(Cores, RanksOnCoresOfTheirOwnShareNone) {
  EXPECT_FALSE(oversubscribed({mask_of({0}), mask_of({1}), mask_of({2, 3})}));
  EXPECT_FALSE(oversubscribed({mask_of({0, 1}), mask_of({0, 1})}));
  EXPECT_FALSE(oversubscribed({mask_of({4095})}));
}

TEST(Cores, MoreRanksThanCoresShareThem) {
  EXPECT_TRUE(oversubscribed({mask_of({0, 1}), mask_of({0, 1}), mask_of({0, 1})}));
  EXPECT_TRUE(oversubscribed({mask_of({0}), mask_of({0}), mask_of({1}), mask_of({2})}));
  // The fourth rank has cores of its own, but three ranks are confined to two cores.
  EXPECT_TRUE(oversubscribed({mask_of({0}), mask_of({1}), mask_of({0, 1}), mask_of({2, 3, 4, 5})}));
}

TEST(Cores, ARankSharesTheSetsToWhichItIsConfined) {
  const std::vector<CoreMask> masks{mask_of({0}), mask_of({0}), mask_of({1}),
                                    mask_of({0, 1, 2, 3})};
  EXPECT_TRUE(shares_core(masks, 0));
  EXPECT_TRUE(shares_core(masks, 1));
  EXPECT_FALSE(shares_core(masks, 2));
  EXPECT_FALSE(shares_core(masks, 3));  // three ranks leave two of the four cores to it
}

TEST(Cores, ThisProcessHasSome) {
  EXPECT_TRUE(usable_cores().any());
  EXPECT_EQ(kernel_identity(), kernel_identity());
}

TEST(Cores, RanksThatMayMoveAreWhereTheyRan) {
  const CoreMask any = mask_of({0, 1, 2, 3});
  EXPECT_EQ(settled({{any, 3}, {any, 0}, {any, 2}, {any, 1}}),
            (std::vector{mask_of({3}), mask_of({0}), mask_of({2}), mask_of({1})}));
  EXPECT_EQ(
      levels_of(settled({{any, 3}, {any, 0}, {any, 2}, {any, 1}}), "numa:2 core:2").contents(),
      "numa:0,1,0,1");
  // Ranks bound to regions get the levels inside them.
  EXPECT_EQ(settled({{mask_of({0, 1}), 1}, {mask_of({2, 3}), 2}}),
            (std::vector{mask_of({1}), mask_of({2})}));
}

TEST(Cores, RanksThatSharedACoreAreWhereTheyMayRun) {
  const CoreMask any = mask_of({0, 1, 2, 3});
  const std::vector<CoreMask> both{any, any};
  EXPECT_EQ(settled({{any, 1}, {any, 1}}), both);   // the system will move one of them
  EXPECT_EQ(settled({{any, 1}, {any, -1}}), both);  // the system did not tell
  EXPECT_EQ(settled({{any, 1}, {any, 5}}), both);   // it has been bound meanwhile
}

TEST(Cores, ThisThreadIsOnOneThatItMayUse) {
  const Place place = present_place();
  ASSERT_GE(place.present, 0);
  EXPECT_TRUE(place.usable[static_cast<size_t>(place.present)]);
}

TEST(Cores, LevelsAreThoseOfTheGivenShape) {
  EXPECT_EQ(levels_of({mask_of({0}), mask_of({1}), mask_of({2}), mask_of({3})}, "numa:2 core:2")
                .contents(),
            "numa:0,0,1,1");
  EXPECT_TRUE(levels_of({mask_of({0, 1}), mask_of({0, 1})}, "numa:2 core:1").one_level());
  EXPECT_EQ(topo::print(shape_of({mask_of({0})}, "numa:2 core:2")), "numa:2 core:2");
}

}  // namespace
}  // namespace tutti::placement
