// The bootstrap of a team by a store.
#include "team/store.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>

#include "base/error.h"

namespace tutti::team {
namespace {

using Clock = Store::Clock;

// A store in which every value is 1, and that keeps the deadlines of its users.
class Ones final : public Store {
 public:
  void set(const std::string&, const void*, size_t) override {}
  bool get(const std::string&, void* data, size_t bytes, Clock::time_point deadline) override {
    std::memset(data, 1, bytes);
    deadlines.insert(deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return has_all;
  }
  std::string name() const override { return "ones"; }

  std::set<Clock::time_point> deadlines;
  bool has_all = true;
};

// So the limit of tutti_team_create_by is one for all ranks and steps together.
TEST(StoreBootstrap, HasOneDeadline) {
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(10);
  Ones store;
  StoreBootstrap first(store, "team", 0, 4, deadline), second(store, "team", 1, 4, deadline);
  EXPECT_TRUE(first.all(true));
  bool value = false;
  second.broadcast(&value, sizeof value);
  EXPECT_TRUE(value);
  EXPECT_EQ(store.deadlines, std::set{deadline});
  store.has_all = false;
  EXPECT_THROW(second.broadcast(&value, sizeof value), Error);
}

}  // namespace
}  // namespace tutti::team
