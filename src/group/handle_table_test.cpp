#include "group/handle_table.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

namespace tutti::group {
namespace {

struct Thing {
  uint64_t handle = 0;
};
using Table = HandleTable<Thing, Thing>;

TEST(HandleTable, FindsWhatWasPutUntilItIsRemoved) {
  Table table;
  Thing one{1}, other{2};
  EXPECT_EQ(table.find(1).object, nullptr);
  table.put(1, {&one});
  table.put(2, {&other});
  EXPECT_EQ(table.find(1).object, &one);
  EXPECT_EQ(table.find(2).object, &other);
  table.remove(1);
  EXPECT_EQ(table.find(1).object, nullptr);
  EXPECT_EQ(table.find(2).object, &other);
  table.put(1, {&other});
  EXPECT_EQ(table.find(1).object, &other);
  table.clear();
  EXPECT_EQ(table.find(1).object, nullptr);
  EXPECT_EQ(table.find(2).object, nullptr);
}

TEST(HandleTable, GrowsWithManyHandlesAtOnce) {
  Table table;
  std::array<Thing, 1000> all;
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].handle = i << 6;  // like addresses
    table.put(all[i].handle, {&all[i]});
  }
  for (Thing& one : all) EXPECT_EQ(table.find(one.handle).object, &one);
  EXPECT_EQ(table.find(all.size() << 6).object, nullptr);
}

// A thread searches while another adds things, so that the table grows under the search.
TEST(HandleTable, ThreadsSearchWhileOneThreadAdds) {
  Table table;
  std::array<Thing, 500> all;
  std::atomic<size_t> added{0};
  std::thread searcher([&] {
    for (size_t known = 0; known < all.size(); known = added.load()) {
      for (size_t i = 0; i < known; ++i) {
        const Thing* const found = table.find(i + 1).object;
        ASSERT_EQ(found, &all[i]);
        ASSERT_EQ(found->handle, i + 1);
      }
    }
  });
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].handle = i + 1;
    table.put(i + 1, {&all[i]});
    added.store(i + 1);
  }
  searcher.join();
}

}  // namespace
}  // namespace tutti::group
