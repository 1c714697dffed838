#include "base/only_one.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace tutti {
namespace {

// 0 if a process in a new namespace of processes is chosen, whose parent is the first process
// there, as in a container; 1 if it is not, 2 if the system refuses the namespace.
int chosen_in_container() {
  const pid_t maker = fork();
  if (maker == 0) {
    if (unshare(CLONE_NEWPID) != 0) _exit(2);
    const pid_t first = fork();
    if (first == 0) {
      const pid_t rank = fork();
      if (rank == 0) _exit(OnlyOne("container").chosen() ? 0 : 1);
      int status = 0;
      waitpid(rank, &status, 0);
      _exit(WEXITSTATUS(status));
    }
    int status = 0;
    waitpid(first, &status, 0);
    _exit(WEXITSTATUS(status));
  }
  int status = 0;
  waitpid(maker, &status, 0);
  return WEXITSTATUS(status);
}

TEST(OnlyOne, IsTheFirstOfAJob) {
  {
    const OnlyOne first("test"), second("test"), other("another purpose");
    EXPECT_TRUE(first.chosen());
    EXPECT_FALSE(second.chosen());
    EXPECT_TRUE(other.chosen());
  }
  EXPECT_TRUE(OnlyOne("test").chosen());
}

// Two containers whose launchers have the number 1 share the names of sockets if they share the
// network; each has a job of its own.
TEST(OnlyOne, OfAnotherContainerIsAnotherJobs) {
  if (getenv("PMIX_NAMESPACE") != nullptr) GTEST_SKIP() << "the environment names the job";
  // The first container holds the name while the second one asks.
  int ends[2], told[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(pipe(told), 0);
  const pid_t maker = fork();
  if (maker == 0) {
    close(ends[1]);
    if (unshare(CLONE_NEWPID) != 0) _exit(2);
    const pid_t first = fork();
    if (first == 0) {
      if (fork() == 0) {
        const OnlyOne held("container");
        char byte = held.chosen() ? 'y' : 'n';
        static_cast<void>(!write(told[1], &byte, 1));
        static_cast<void>(!read(ends[0], &byte, 1));
        _exit(0);
      }
      wait(nullptr);
      _exit(0);
    }
    int status = 0;
    waitpid(first, &status, 0);
    _exit(WEXITSTATUS(status));
  }
  close(told[1]);
  char byte = '?';
  if (read(told[0], &byte, 1) == 1) {
    EXPECT_EQ(byte, 'y');
    EXPECT_EQ(chosen_in_container(), 0);
  }
  close(ends[1]);
  close(ends[0]);
  close(told[0]);
  int status = 0;
  waitpid(maker, &status, 0);
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "the system refuses a namespace of processes";
}

}  // namespace
}  // namespace tutti
