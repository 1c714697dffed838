#include "base/short_slices.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <thread>

namespace tutti {
namespace {

// The words of the calling thread's sched_attr. Word 1 has the policy, words 6 and 7 the slice.
std::array<uint32_t, 12> attributes() {
  std::array<uint32_t, 12> all{};
  EXPECT_EQ(syscall(SYS_sched_getattr, 0, all.data(), sizeof all, 0), 0);
  return all;
}

TEST(ShortSlices, PolicyAndNiceValueStay) {
  std::thread([] {
    setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), 5);
    const auto before = attributes();
    ask_for_short_slices();
    auto after = attributes();
    // Systems before Linux 6.12 tell no slice.
    if (before[6] != 0) {
      EXPECT_EQ(after[6], 100'000U);
      after[6] = before[6];
    }
    EXPECT_EQ(after, before);
  }).join();
}

TEST(ShortSlices, OtherPoliciesAreLeftAlone) {
  std::thread([] {
    const sched_param none{};
    ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &none), 0);
    const auto before = attributes();
    ask_for_short_slices();
    EXPECT_EQ(attributes(), before);
  }).join();
}

}  // namespace
}  // namespace tutti
