#include "base/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

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

TEST(Process, IsToldFromALaterOneWithItsNumber) {
  const ProcessId here = this_process();
  EXPECT_EQ(here.number, getpid());
  EXPECT_NE(here.started, 0u);
  EXPECT_FALSE(process_is_gone(here));
  const ProcessId earlier{here.number, here.started - 1};
  EXPECT_TRUE(process_is_gone(earlier));
  EXPECT_FALSE(process_is_stopped(earlier));
  EXPECT_FALSE(kill_process(earlier));
}

TEST(Process, IsStoppedAndKilled) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (;;) pause();
  }
  const ProcessId process{child, start_of_process(child)};
  EXPECT_FALSE(process_is_stopped(process));
  kill(child, SIGSTOP);
  ASSERT_EQ(waitpid(child, nullptr, WUNTRACED), child);
  EXPECT_TRUE(process_is_stopped(process));
  EXPECT_STREQ(stopped_note(static_cast<uint64_t>(child)), ", stopped by a signal");
  EXPECT_STREQ(stopped_note(static_cast<uint64_t>(getpid())), "");
  EXPECT_FALSE(process_is_gone(process));
  EXPECT_TRUE(kill_process(process));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_FALSE(kill_process(process));
}

// Its first thread is a zombie then, and the process is not.
TEST(Process, LivesWhenItsFirstThreadHasEnded) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close(ends[1]);
    std::thread([end = ends[0]] {
      char byte;
      static_cast<void>(!read(end, &byte, 1));
      _exit(0);
    }).detach();
    syscall(SYS_exit, 0);  // ends this thread alone
  }
  close(ends[0]);
  const std::string name = "/proc/" + std::to_string(child) + "/stat";
  const auto first_thread_has_ended = [&] {
    std::ifstream file(name);
    std::string text;
    std::getline(file, text);
    return text.find(") Z ") != std::string::npos;
  };
  for (int i = 0; i < 10'000 && !first_thread_has_ended(); ++i) usleep(1000);
  ASSERT_TRUE(first_thread_has_ended());
  EXPECT_FALSE(is_gone(child));
  close(ends[1]);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(is_gone(child));
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace tutti
