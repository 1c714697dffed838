#include "base/detached.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>

#include "base/error.h"

namespace tutti {
namespace {

std::atomic<int> signals_of_children{0};

// Starts a shell with these words as a detached process and returns all that it writes into
// descriptor 3.
std::string written_by(const std::string& words) {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  start_detached({.path = "/bin/sh",
                  .arguments = {"-c", words},
                  .environment = {"GREETING=hello"},
                  .descriptor = ends[1]});
  close(ends[1]);
  std::string text;
  char bytes[256];
  for (ssize_t length; (length = read(ends[0], bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<size_t>(length));
  close(ends[0]);
  return text;
}

TEST(Detached, GetsItsArgumentsEnvironmentAndDescriptor) {
  EXPECT_EQ(written_by("echo $GREETING $HOME >&3"), "hello\n");
}

// Neither the start nor the end of the program is seen here.
TEST(Detached, IsNoChild) {
  struct sigaction counts{};
  struct sigaction before{};
  counts.sa_handler = [](int) { ++signals_of_children; };
  sigaction(SIGCHLD, &counts, &before);
  EXPECT_NE(written_by("echo $PPID >&3"), std::to_string(getpid()) + "\n");
  EXPECT_EQ(waitpid(-1, nullptr, 0), -1);
  EXPECT_EQ(errno, ECHILD);
  EXPECT_EQ(signals_of_children, 0);
  // A program that wants no child to become a zombie.
  signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(written_by("echo well >&3"), "well\n");
  sigaction(SIGCHLD, &before, nullptr);
}

TEST(Detached, BeginsWithAllSignalsBlockedAndDefault) {
  signal(SIGUSR1, SIG_IGN);
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  // A shell unblocks its signals while it waits, so it is replaced by the program that reads.
  const std::string told = written_by("exec grep -E 'SigBlk|SigIgn' /proc/self/status >&3");
  EXPECT_NE(told.find("SigBlk:\tfffffffe7ffbfeff"), std::string::npos) << told;
  const size_t ignored = told.find("SigIgn:\t");
  ASSERT_NE(ignored, std::string::npos) << told;
  // The C library ignores signals of its own, the two after the first 31.
  EXPECT_EQ(std::stoull(told.substr(ignored + 8), nullptr, 16) & 0x7fffffff, 0u) << told;
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGUSR1), sigismember(&after, SIGUSR1));
  signal(SIGUSR1, SIG_DFL);
}

TEST(Detached, SaysWhyItCannotStart) {
  try {
    start_detached({.path = "/no/such/program"});
    FAIL() << "it has started";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unavailable);
    EXPECT_NE(std::string(error.what()).find("/no/such/program: No such file"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(waitpid(-1, nullptr, 0), -1);
}

TEST(Detached, RefusesToAdopt) {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  EXPECT_THROW(start_detached({.path = "/bin/true"}), Error);
  prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

}  // namespace
}  // namespace tutti
