// Ranks that are bound, which are threads or processes, on a machine that TUTTI_TOPOLOGY describes:
// two numa regions of one core each.
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "api/test_calls.h"
#include "api/test_processes.h"
#include "api/test_ranks.h"

namespace {

using tutti::test::spawn;

cpu_set_t only(int unit) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(unit, &set);
  return set;
}

class ApiLevels : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(sched_getaffinity(0, sizeof before_, &before_), 0);
    if (std::getenv("TUTTI_TOPOLOGY") == nullptr)
      GTEST_SKIP() << "needs TUTTI_TOPOLOGY=\"numa:2 core:1\"";
    if (!CPU_ISSET(0, &before_) || !CPU_ISSET(1, &before_))
      GTEST_SKIP() << "this process may not use processing units 0 and 1";
  }
  void TearDown() override { sched_setaffinity(0, sizeof before_, &before_); }

  // The library's log line about the levels that it found.
  std::string levels_of(int ranks, const std::function<void(int)>& before_join) {
    testing::internal::CaptureStderr();
    spawn(
        ranks,
        [](tutti_group* group, int rank) {
          for (const size_t count : {size_t{1}, size_t{100}, size_t{5000}}) {
            std::vector<int64_t> data(count, rank + 1), sum(count);
            ASSERT_EQ(
                tutti_allreduce(group, data.data(), sum.data(), count, TUTTI_INT64, TUTTI_SUM),
                TUTTI_OK);
            const int64_t all = tutti_group_size(group);
            ASSERT_EQ(sum, std::vector<int64_t>(count, all * (all + 1) / 2));
            ASSERT_EQ(tutti_bcast(group, data.data(), count * 8, 3), TUTTI_OK);
            ASSERT_EQ(data, std::vector<int64_t>(count, 4));
            ASSERT_EQ(tutti_barrier(group), TUTTI_OK);
          }
        },
        std::chrono::seconds(60), before_join);
    sched_setaffinity(0, sizeof before_, &before_);
    return levels_in(testing::internal::GetCapturedStderr());
  }

  // The same line of a team of processes, each of which is bound to one unit.
  std::string levels_of_processes(int ranks, const std::function<int(int)>& unit_of) {
    const tutti::test::Directory directory;
    testing::internal::CaptureStderr();
    std::vector<pid_t> children;
    for (int rank = 0; rank < ranks; ++rank)
      children.push_back(tutti::test::start([&] {
        const cpu_set_t set = only(unit_of(rank));
        REQUIRE(sched_setaffinity(0, sizeof set, &set) == 0);
        const tutti::test::Rank own(directory.path, "bound", rank, ranks);
        for (const size_t count : {size_t{1}, size_t{100}, size_t{5000}})
          tutti::test::use_all(own, count);
      }));
    int failed = 0;
    for (const pid_t child : children) failed += tutti::test::status_of(child) != 0;
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(failed, 0) << said;
    return levels_in(said);
  }

  static std::string levels_in(const std::string& said) {
    const std::string before = " ranks: ";
    const size_t line = said.find("levels of "), at = said.find(before, line) + before.size();
    return line == std::string::npos ? "" : said.substr(at, said.find('\n', at) - at);
  }

  cpu_set_t before_{};
};

TEST_F(ApiLevels, AreThoseOfTheThreadsBindings) {
  const auto bind = [](auto unit_of) {
    return [unit_of](int rank) {
      const cpu_set_t set = only(unit_of(rank));
      ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
    };
  };
  EXPECT_EQ(levels_of(6, bind([](int rank) { return rank % 2; })), "numa:0,1,0,1,0,1");
  EXPECT_EQ(levels_of(7, bind([](int rank) { return rank < 3 ? 1 : 0; })), "numa:0,0,0,1,1,1,1");
  EXPECT_EQ(levels_of(4, bind([](int) { return 0; })), "");
}

TEST_F(ApiLevels, AreThoseOfTheProcessesBindings) {
  EXPECT_EQ(levels_of_processes(4, [](int rank) { return rank % 2; }), "numa:0,1,0,1");
  EXPECT_EQ(levels_of_processes(5, [](int rank) { return rank < 2 ? 1 : 0; }), "numa:0,0,1,1,1");
  EXPECT_EQ(levels_of_processes(3, [](int) { return 1; }), "");
}

TEST_F(ApiLevels, AreUnknownIfARankIsUnbound) {
  EXPECT_EQ(levels_of(4,
                      [this](int rank) {
                        const cpu_set_t set = rank == 2 ? before_ : only(rank % 2);
                        ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
                      }),
            "");
}

// The first call of any collective waits for a rank that joins late.
TEST(ApiJoin, TheFirstCallWaitsForAll) {
  tutti_team* team = nullptr;
  ASSERT_EQ(tutti_team_create(2, &team), TUTTI_OK);
  std::atomic<bool> joined{false}, known{false};
  std::thread root([&] {
    tutti_group* group = nullptr;
    int64_t data = 7;
    ASSERT_EQ(tutti_team_join(team, 0, &group), TUTTI_OK);
    EXPECT_EQ(tutti_bcast(group, nullptr, 8, 0),
              TUTTI_INVALID_ARGUMENT);  // a wrong call does not wait
    EXPECT_FALSE(joined);
    ASSERT_EQ(tutti_bcast(group, &data, sizeof data, 0), TUTTI_OK);
    known = joined.load();
    tutti_group_free(group);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  joined = true;
  tutti_group* group = nullptr;
  int64_t data = 0;
  ASSERT_EQ(tutti_team_join(team, 1, &group), TUTTI_OK);
  ASSERT_EQ(tutti_bcast(group, &data, sizeof data, 0), TUTTI_OK);
  EXPECT_EQ(data, 7);
  root.join();
  EXPECT_TRUE(known);
  tutti_group_free(group);
  tutti_team_free(team);
}

}  // namespace
