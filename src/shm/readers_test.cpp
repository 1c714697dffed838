#include "shm/readers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <utility>
#include <filesystem>
#include <fstream>

namespace tutti::shm {
namespace {

using Line = std::vector<pid_t>;

// A directory like the kernel's /proc.
class Proc {
 public:
  Proc()
      : path_(std::filesystem::path(testing::TempDir()) /
              ("readers_test_" + std::to_string(getpid()))) {}
  ~Proc() { std::filesystem::remove_all(path_); }
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text << '\n';
  }
  void put_process(pid_t process, const std::string& name, pid_t parent) const {
    put(std::to_string(process) + "/stat",
        std::to_string(process) + " (" + name + ") S " + std::to_string(parent) + " 7 8");
  }
  std::string path(const std::string& name = "") const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

TEST(Readers, NamingHelpsUnderScopeOneOnly) {
  const Proc proc;
  EXPECT_FALSE(naming_readers_helps(proc.path("ptrace_scope")));
  for (const auto& [text, helps] : {std::pair("0", false),
                                    {"1", true},
                                    {"2", false},
                                    {"3", false},
                                    {"", false},
                                    {"x", false}}) {
    proc.put("ptrace_scope", text);
    EXPECT_EQ(naming_readers_helps(proc.path("ptrace_scope")), helps) << text;
  }
}

TEST(Readers, AncestryGoesUpToTheFirstProcess) {
  const Proc proc;
  proc.put_process(1, "init", 0);
  proc.put_process(20, "mpiexec", 1);
  proc.put_process(31, "a (b) 5 R 9", 20);
  EXPECT_EQ(ancestry(31, proc.path()), (Line{31, 20, 1}));
  EXPECT_EQ(ancestry(40, proc.path()), Line{40});
  proc.put("50/stat", "50 (cut");
  EXPECT_EQ(ancestry(50, proc.path()), Line{50});
  proc.put("51/stat", "51 (cut)");
  EXPECT_EQ(ancestry(51, proc.path()), Line{51});
  proc.put_process(60, "one", 61);
  proc.put_process(61, "other", 60);
  EXPECT_EQ(ancestry(60, proc.path()), (Line{60, 61}));
}

TEST(Readers, TheNearestCommonAncestorIsNamed) {
  EXPECT_EQ(nearest_in_all({}), 0);
  EXPECT_EQ(nearest_in_all({{31, 20, 1}}), 31);
  EXPECT_EQ(nearest_in_all({{31, 20, 1}, {32, 20, 1}}), 20);
  EXPECT_EQ(nearest_in_all({{31, 20, 2, 1}, {32, 21, 2, 1}, {33, 21, 2, 1}}), 2);
  EXPECT_EQ(nearest_in_all({{31, 20, 1}, {20, 1}}), 20);
  EXPECT_EQ(nearest_in_all({{31, 20}, {32}}), 0);
}

TEST(Readers, AncestryOfThisProcessHoldsItsParent) {
  const Line line = ancestry(getpid());
  ASSERT_GE(line.size(), 2u);
  EXPECT_EQ(line[0], getpid());
  EXPECT_EQ(line[1], getppid());
}

}  // namespace
}  // namespace tutti::shm
