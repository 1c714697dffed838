#include "select/table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace tutti::select {
namespace {

std::string refusal(std::string_view rules) {
  try {
    read_table("tutti-map 1\n" + std::string(rules), "mine.map");
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return {};
}

TEST(Table, KeepsTheRulesOfACollectiveInOrder) {
  const Table table = read_table(
      "tutti-map 1\nscan -> builtin:chain\nbcast ranks 2 -> builtin:flat\nscan -> builtin:flat\n",
      "mine");
  const auto& scans = table.rules[static_cast<size_t>(plan::Collective::scan)];
  ASSERT_EQ(scans.size(), 2u);
  EXPECT_EQ(scans[0].line, 2);
  EXPECT_EQ(scans[1].line, 4);
  EXPECT_EQ(table.rules[static_cast<size_t>(plan::Collective::bcast)].size(), 1u);
}

TEST(Table, RefusesWithFileLineAndReason) {
  EXPECT_TRUE(refusal("barrier -> builtin:flat\n\nbarrier -> own.plan\n")
                  .starts_with("mine.map:4: \"own.plan\" is a plan's file, and a table names "
                               "built-in algorithms alone"));
  EXPECT_TRUE(refusal("bcast -> builtin:doubling\n")
                  .starts_with("mine.map:2: algorithm 'doubling' does not serve bcast"));
  EXPECT_TRUE(refusal("bcast -> builtin:rong\n")
                  .starts_with("mine.map:2: unknown algorithm 'rong'; known are flat"));
  EXPECT_TRUE(
      refusal("bcast oversubscribed -> builtin:flat\n")
          .starts_with("mine.map:2: expected yes, no or * behind oversubscribed, found \"->\""));
}

TEST(Table, FingerprintIsOfTheRules) {
  const uint64_t one =
      read_table("tutti-map 1\nbcast oversubscribed yes -> builtin:flat\n", "a").fingerprint;
  EXPECT_EQ(
      read_table(
          "tutti-map 1\n# measured\n  bcast oversubscribed yes ranks * -> builtin:flat # so\n", "b")
          .fingerprint,
      one);
  EXPECT_NE(read_table("tutti-map 1\nbcast oversubscribed no -> builtin:flat\n", "a").fingerprint,
            one);
  EXPECT_NE(read_table("tutti-map 1\nbcast oversubscribed yes -> builtin:flat segment 8K\n", "a")
                .fingerprint,
            one);
}

TEST(Table, LoadsAFile) {
  const std::string path = testing::TempDir() + "table_test_" + std::to_string(getpid()) + ".map";
  std::ofstream(path) << "tutti-map 1\nbcast -> builtin:binomial\n";
  EXPECT_EQ(load_table(path).name, path);
  std::ofstream(path) << "bcast -> builtin:binomial\n";
  try {
    load_table(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(
        std::string(error.what()).starts_with(path + ":1: not a map: expected 'tutti-map 1'"))
        << error.what();
  }
  std::filesystem::remove(path);
  try {
    load_table(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(
        error.what(),
        path +
            ": No such file or directory; give the name of a table, as `tutti tune` writes it, or "
            "unset TUTTI_TABLE");
  }
}

// The files in the source tree are what runs.
TEST(Table, TheCompiledTablesAreTheirFiles) {
  const std::vector<std::pair<const char*, std::string_view>> tables = {
      {"default.map", default_table_text}, {"placement.map", placement_table_text}};
  for (const auto& [name, text] : tables) {
    std::ifstream file(std::string(TUTTI_SOURCE_DIR "/src/select/") + name);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
  }
  EXPECT_EQ(default_table().name, "default.map");
  EXPECT_EQ(placement_table().name, "placement.map");
}

}  // namespace
}  // namespace tutti::select
