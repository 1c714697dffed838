#include "base/log.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <climits>
#include <string>
#include <thread>
#include <vector>

namespace tutti {
namespace {

class Log : public testing::Test {
 protected:
  void TearDown() override {
    set_log_level(LogLevel::warning);
    set_log_rank(-1);
  }
};

TEST_F(Log, PrefixLevelAndRank) {
  testing::internal::CaptureStderr();
  log_line(LogLevel::warning, "%d of %s", 3, "them");
  set_log_rank(7);
  log_line(LogLevel::error, "gone");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tutti: warning: 3 of them\ntutti: [rank 7] error: gone\n");
}

TEST_F(Log, DropsWhatTheLevelExcludes) {
  testing::internal::CaptureStderr();
  log_line(LogLevel::info, "unseen");
  set_log_level(LogLevel::debug);
  log_line(LogLevel::debug, "seen");
  set_log_level(LogLevel::error);
  log_line(LogLevel::warning, "unseen");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tutti: debug: seen\n");
}

TEST_F(Log, AMessageIsOneLineOfBoundedLength) {
  testing::internal::CaptureStderr();
  log_line(LogLevel::error, "two\nlines\tand a tab");
  const std::string broken = testing::internal::GetCapturedStderr();
  EXPECT_EQ(broken, "tutti: error: two lines and a tab\n");
  testing::internal::CaptureStderr();
  log_line(LogLevel::error, "%s", std::string(3 * PIPE_BUF, 'x').c_str());
  const std::string cut = testing::internal::GetCapturedStderr();
  EXPECT_EQ(cut.size(), static_cast<size_t>(PIPE_BUF));
  EXPECT_EQ(cut.substr(cut.size() - 2), "x\n");
}

TEST_F(Log, KeepsErrno) {
  testing::internal::CaptureStderr();
  errno = ENOENT;
  log_line(LogLevel::error, "%m");
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tutti: error: No such file or directory\n");
}

TEST_F(Log, OnceSaysAKeyOnceAndOnlyWhenItIsSeen) {
  testing::internal::CaptureStderr();
  log_once("log_test.a", LogLevel::info, "below the level, so not used up");
  set_log_level(LogLevel::info);
  log_once("log_test.a", LogLevel::info, "a %d", 1);
  log_once("log_test.a", LogLevel::info, "a %d", 2);
  log_once("log_test.b", LogLevel::info, "b");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tutti: info: a 1\ntutti: info: b\n");
}

TEST_F(Log, LinesOfManyThreadsStayWhole) {
  testing::internal::CaptureStderr();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) {
        log_line(LogLevel::error, "the same words from everybody");
        log_once("log_test.threads", LogLevel::error, "from one only");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::string text = testing::internal::GetCapturedStderr();
  const std::string once = "tutti: error: from one only\n";
  const size_t found = text.find(once);
  ASSERT_NE(found, std::string::npos);
  text.erase(found, once.size());
  std::string expected;
  for (int i = 0; i < 400; ++i) expected += "tutti: error: the same words from everybody\n";
  EXPECT_EQ(text, expected);
}

}  // namespace
}  // namespace tutti
