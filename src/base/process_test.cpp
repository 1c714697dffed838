#include "base/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tutti {
namespace {

bool is_gone(pid_t process) { return process_is_gone(static_cast<uint64_t>(process)); }

TEST(Process, IsGoneBeforeAndAfterItsParentTakesNote) {
  EXPECT_FALSE(is_gone(getpid()));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (;;) pause();
  }
  EXPECT_FALSE(is_gone(child));
  kill(child, SIGKILL);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT),
            0);  // has ended, and stays a zombie
  EXPECT_TRUE(is_gone(child));
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(is_gone(child));
}

}  // namespace
}  // namespace tutti
