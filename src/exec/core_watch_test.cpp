#include "exec/core_watch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/waiter.h"
#include "placement/cores.h"
#include "topo/binding.h"
#include "topo/tree.h"

namespace tutti::exec {
namespace {

using Clock = std::chrono::steady_clock;

// A process that is bound to some processing units, in the place of another rank.
class BoundProcess {
 public:
  explicit BoundProcess(const std::vector<int>& units) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    number_ = fork();
    if (number_ == 0) {
      const char told = topo::bind_to(units) ? 1 : 0;
      if (write(ready[1], &told, 1) == 1)
        while (true) pause();
      _exit(1);
    }
    char bound = 0;
    EXPECT_EQ(read(ready[0], &bound, 1), 1);
    EXPECT_EQ(bound, 1);
    close(ready[0]);
    close(ready[1]);
  }
  ~BoundProcess() {
    kill(number_, SIGKILL);
    waitpid(number_, nullptr, 0);
  }
  BoundProcess(const BoundProcess&) = delete;
  int64_t number() const { return number_; }

 private:
  pid_t number_;
};

// How many polls a wait makes before its first look; those on a shared core are few.
int polls_before_look() {
  int polls = 0;
  Waiter(pace_between_calls(WaitStyle::spin))
      .until([&] { return ++polls > 10000; }, [] { return Code::mismatch; });
  return polls;
}

TEST(CoreWatch, FollowsThisThreadAndTheOtherRanks) {
  const std::vector<int> units = topo::binding();
  if (units.size() < 2) GTEST_SKIP() << "needs two processing units";
  auto now = Clock::now();
  const auto later = [&] { return now += std::chrono::seconds(1); };

  EXPECT_FALSE(shares_core_in_long_wait(later()));
  {
    const BoundProcess other({units[0]});
    watch_cores_of({0, getpid(), other.number(), other.number()});
    EXPECT_FALSE(shares_core_in_long_wait(later()));  // there is another core for this thread

    ASSERT_TRUE(topo::bind_to({units[0]}));
    EXPECT_FALSE(shares_core(later()));  // only long waits notice it first
    EXPECT_FALSE(shares_core_in_long_wait(now - std::chrono::milliseconds(950)));  // too early
    EXPECT_TRUE(shares_core_in_long_wait(now));
    EXPECT_TRUE(shares_core(later()));
    EXPECT_LT(polls_before_look(), 100);

    ASSERT_TRUE(topo::bind_to({units[1]}));
    EXPECT_FALSE(shares_core(later()));
    EXPECT_GT(polls_before_look(), 100);

    ASSERT_TRUE(topo::bind_to({units[0]}));
    EXPECT_TRUE(shares_core_in_long_wait(later()));
  }
  EXPECT_FALSE(shares_core_in_long_wait(later()));  // the other one has ended
  ASSERT_TRUE(topo::bind_to(units));
}

}  // namespace
}  // namespace tutti::exec
