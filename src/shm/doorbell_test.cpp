// A thread that sleeps on two doorbells, in kernels that can wait for both and in others.
#include "shm/doorbell.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace tutti::shm {
namespace {

using std::chrono::hours;

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

// From now on the wait for both gives this thread an error.
void forbid_waits_for_both(uint32_t error) {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex_waitv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{4, rules};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

enum class By : uint8_t { own, peer };

// A thread sleeps without a limit until one of its bells is rung.
void expect_to_wake(By by, uint32_t error) {
  for (int round = 0; round < 200; ++round) {
    Doorbell own{}, peer{};
    std::atomic<bool> rung{false};
    std::thread sleeper([&] {
      if (error != 0) forbid_waits_for_both(error);
      uint32_t seen = own.enter();
      const auto ready = [&] { return by == By::peer && rung.load(); };
      while (!rung.load()) seen = own.sleep_beside(seen, peer, ready, hours(-1));
      own.leave();
    });
    if (round % 2 == 0)
      while (MachineAtomics::look(own.sleepers) == 0) std::this_thread::yield();
    rung = true;
    (by == By::own ? own : peer).wake();
    sleeper.join();
    EXPECT_EQ(MachineAtomics::look(own.sleepers), 0U);
    EXPECT_EQ(MachineAtomics::look(peer.sleepers), 0U);
  }
}

TEST(Doorbell, EitherOfTwoWakes) {
  expect_to_wake(By::own, 0);
  expect_to_wake(By::peer, 0);
}

TEST(Doorbell, BothAreHeardWhereTheKernelWaitsForOne) {
  for (const uint32_t error : {ENOSYS, EPERM}) {
    expect_to_wake(By::own, error);
    expect_to_wake(By::peer, error);
  }
}

TEST(Doorbell, ASleepOnTwoEnds) {
  Doorbell own{}, peer{};
  const uint32_t seen = own.enter();
  EXPECT_EQ(own.sleep_beside(seen, peer, [] { return false; }, std::chrono::milliseconds(2)), seen);
  own.leave();
}

}  // namespace
}  // namespace tutti::shm
