#include "select/found_table.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "topo/machine_name.h"

namespace tutti::select {
namespace {

namespace fs = std::filesystem;

class FoundTableTest : public testing::Test {
 protected:
  FoundTableTest() { fs::create_directories(directory_); }
  ~FoundTableTest() override { fs::remove_all(directory_); }

  std::string write(const std::string& name, const std::string& text) {
    const fs::path file = directory_ / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file;
  }
  std::string found(const std::vector<std::string>& files) {
    warnings_.clear();
    const auto table = find_table(files, [&](const std::string& one) { warnings_.push_back(one); });
    return table ? table->path : "";
  }

  const fs::path directory_ = fs::path(testing::TempDir()) / "found-tables";
  std::vector<std::string> warnings_;
};

TEST(FoundTable, NamesAnMpiByItsLibraryAndMajorVersion) {
  EXPECT_EQ(mpi_name("Open MPI v5.0.11, package: Open MPI x@y Distribution"), "openmpi-5");
  EXPECT_EQ(mpi_name("MPICH Version:\t4.3.1\nMPICH Release date: 2025"), "mpich-4");
  EXPECT_EQ(mpi_name("Intel(R) MPI Library 2021.17 for Linux* OS"), "intel-2021");
  EXPECT_EQ(mpi_name("MVAPICH2 Version      :\t2.3.7"), "mvapich-2");
  EXPECT_EQ(mpi_name("MPI VERSION    : CRAY MPICH version 8.1.28 (ANL base 3.4a2)"),
            "cray-mpich-8");
  EXPECT_EQ(mpi_name("Some MPI 3"), "");
  EXPECT_EQ(mpi_name("MPICH"), "");
}

TEST_F(FoundTableTest, TriesTheUsersFilesFirstAndTheOneForTheMpiFirst) {
  const std::string user = directory_ / "user", site = directory_ / "site";
  EXPECT_TRUE(table_files("mpich-5", {user, "", site}).empty());
  fs::create_directories(site);
  const std::string name = topo::machine_name();
  EXPECT_EQ(table_files("", {user, site}), (std::vector{site + "/" + name + ".map"}));
  fs::create_directories(user);
  EXPECT_EQ(table_files("mpich-5", {user, site}),
            (std::vector{user + "/" + name + ".mpich-5.map", user + "/" + name + ".map",
                         site + "/" + name + ".mpich-5.map", site + "/" + name + ".map"}));
}

TEST_F(FoundTableTest, TheUsersDirectoryFollowsTheStandard) {
  setenv("XDG_CONFIG_HOME", "/some/where", 1);
  EXPECT_EQ(user_directory(), "/some/where/tutti");
  setenv("XDG_CONFIG_HOME", "not/absolute", 1);
  setenv("HOME", "/home/me", 1);
  EXPECT_EQ(user_directory(), "/home/me/.config/tutti");
  unsetenv("XDG_CONFIG_HOME");
  unsetenv("HOME");
  EXPECT_EQ(user_directory(), "");
}

TEST_F(FoundTableTest, TheFirstTableIsTakenAndABrokenOneIsNamed) {
  const std::string missing = directory_ / "missing.map";
  const std::string good = write("good.map", "tutti-map 1\nbcast -> builtin:flat\n");
  const std::string broken = write("broken.map", "tutti-map 1\n\nbcast -> builtin:unknown\n");
  EXPECT_EQ(found({missing}), "");
  EXPECT_TRUE(warnings_.empty());
  EXPECT_EQ(found({missing, good, broken}), good);
  EXPECT_TRUE(warnings_.empty());
  EXPECT_EQ(found({broken, good}), good);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(warnings_[0].starts_with(broken + ":3: ")) << warnings_[0];
  EXPECT_EQ(found({directory_}), "");
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(warnings_[0].starts_with(directory_.string() + ": not a file")) << warnings_[0];
}

}  // namespace
}  // namespace tutti::select
