#include "topo/shape.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace tutti::topo {
namespace {

std::string refusal(std::string_view text) {
  try {
    parse_shape(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    return error.what();
  }
  return {};
}

TEST(Shape, ReadsAndPrints) {
  EXPECT_TRUE(parse_shape("").empty());
  EXPECT_TRUE(parse_shape("  \t").empty());
  EXPECT_EQ(parse_shape("node:4 numa:2 core:8").counts, (std::array<int32_t, 6>{0, 4, 0, 2, 0, 8}));
  EXPECT_EQ(print(parse_shape("  cluster:2\tnode:3 socket:2 numa:1 cache:2  core:4 ")),
            "cluster:2 node:3 socket:2 numa:1 cache:2 core:4");
  for (const char* text : {"", "core:1", "cluster:1048576", "node:4 core:8"})
    EXPECT_EQ(print(parse_shape(text)), text);
}

TEST(Shape, RefusesWhatIsNoShape) {
  EXPECT_EQ(refusal("nodes:4"),
            "shape \"nodes:4\": \"nodes:4\" is no LEVEL:COUNT; levels are cluster, node, "
            "socket, numa, cache, core");
  EXPECT_TRUE(
      refusal("node:4 core").starts_with("shape \"node:4 core\": \"core\" is no LEVEL:COUNT"));
  EXPECT_TRUE(
      refusal("core:8 node:4")
          .ends_with("\"node:4\" stands behind core; write each level once, from the outside "
                     "in: cluster, node, socket, numa, cache, core"));
  EXPECT_TRUE(refusal("numa:2 socket:2").find("\"socket:2\" stands behind numa;") !=
              std::string::npos);
  EXPECT_TRUE(refusal("node:4 node:4").find("\"node:4\" stands behind node;") != std::string::npos);
  for (const char* text :
       {"node:", "node:0", "node:-1", "node:1x", "node:99999999999999999999", "node:1048577"}) {
    EXPECT_TRUE(refusal(text).find("needs a number from 1 to 1048576 behind the colon") !=
                std::string::npos)
        << text;
  }
  EXPECT_TRUE(refusal("cluster:1024 node:1024 core:2").find("more than 1048576 in all") !=
              std::string::npos);
  EXPECT_EQ(refusal("a\nb:1").find('\n'), std::string::npos);
}

TEST(Shape, NormalisesWhatIsOutside) {
  EXPECT_EQ(print(normalised(parse_shape("core:8"))), "cluster:1 node:1 numa:1 cache:1 core:8");
  EXPECT_EQ(print(normalised(parse_shape("node:4 core:8"))), "cluster:1 node:4 core:8");
  EXPECT_EQ(print(normalised(parse_shape("socket:2 core:8"))), "cluster:1 node:1 socket:2 core:8");
  EXPECT_TRUE(normalised({}).empty());
}

TEST(Shape, AgreesWhereAllNamedLevelsDo) {
  const auto agreed = [](const char* one, const char* other) {
    const bool forth = agree(parse_shape(one), parse_shape(other));
    EXPECT_EQ(forth, agree(parse_shape(other), parse_shape(one))) << one << " and " << other;
    return forth;
  };
  EXPECT_TRUE(agreed("", "node:4 core:2"));
  EXPECT_TRUE(agreed("numa:2 core:8", "node:1 numa:2 core:8"));
  EXPECT_TRUE(agreed("node:1", "node:1 numa:2 core:8"));
  EXPECT_TRUE(agreed("node:4 core:16", "node:4 numa:2 core:8"));
  EXPECT_TRUE(agreed("numa:2 cache:2 core:4", "numa:2 core:8"));
  // A shape that does not name sockets agrees with any number of them.
  EXPECT_TRUE(agreed("numa:4 core:4", "node:1 socket:2 numa:2 core:4"));
  EXPECT_TRUE(agreed("socket:2 numa:1 core:8", "node:1 numa:2 core:8"));
  EXPECT_TRUE(agreed("socket:2 core:8", "node:1 socket:2 numa:2 core:4"));
  EXPECT_FALSE(agreed("numa:2 core:8", "node:1 socket:2 numa:2 core:4"));
  EXPECT_FALSE(agreed("socket:4 core:4", "node:1 socket:2 numa:2 core:4"));
  EXPECT_FALSE(agreed("node:4", "node:1 numa:2 core:8"));
  EXPECT_FALSE(agreed("node:2 core:4", "node:4 core:2"));
  EXPECT_FALSE(agreed("core:8", "numa:2 core:4"));
  EXPECT_FALSE(agreed("numa:2 core:8", "numa:2 core:4"));
  EXPECT_FALSE(agreed("cluster:2 node:2 core:4", "node:4 core:4"));
}

// A directory like the kernel's, for a machine that is not this one.
class System {
 public:
  System()
      : path_(std::filesystem::path(testing::TempDir()) /
              ("shape_test_" + std::to_string(getpid()))) {}
  ~System() { std::filesystem::remove_all(path_); }
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text << '\n';
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(Shape, OfANodeCountsRegionsAndCores) {
  const System system;
  system.put("node/online", "0-1");
  system.put("node/node0/cpulist", "0-3,8-11");
  system.put("node/node1/cpulist", "4-7,12-15");
  for (int core = 0; core < 8; ++core) {
    const std::string siblings = std::to_string(core) + "," + std::to_string(core + 8);
    system.put("cpu/cpu" + std::to_string(core) + "/topology/thread_siblings_list", siblings);
    system.put("cpu/cpu" + std::to_string(core + 8) + "/topology/thread_siblings_list", siblings);
  }
  std::vector<int> all(16);
  for (int unit = 0; unit < 16; ++unit) all[static_cast<size_t>(unit)] = unit;
  EXPECT_EQ(print(shape_of_node(all, system.path())), "node:1 numa:2 core:4");
  EXPECT_EQ(print(shape_of_node({0, 8, 1}, system.path())), "node:1 numa:1 core:2");
  EXPECT_EQ(print(shape_of_node({0, 1, 2, 4}, system.path())), "node:1 numa:2 core:3");
  EXPECT_TRUE(shape_of_node({}, system.path()).empty());

  const std::vector<NodeCore> cores = cores_of_node({12, 0, 4, 9}, system.path());
  ASSERT_EQ(cores.size(), 3u);
  EXPECT_EQ(cores[0].region, 0);
  EXPECT_EQ(cores[0].units, std::vector<int>{0});
  EXPECT_EQ(cores[1].units, std::vector<int>{9});
  EXPECT_EQ(cores[2].region, 1);
  EXPECT_EQ(cores[2].units, (std::vector<int>{12, 4}));
}

TEST(Shape, OfANodeTellsOfSocketsOfSeveralRegions) {
  const System system;
  system.put("node/online", "0-3");
  std::vector<int> all;
  for (int unit = 0; unit < 16; ++unit) {
    system.put("node/node" + std::to_string(unit / 4) + "/cpulist",
               std::to_string(unit / 4 * 4) + "-" + std::to_string(unit / 4 * 4 + 3));
    system.put("cpu/cpu" + std::to_string(unit) + "/topology/physical_package_id",
               std::to_string(unit / 8));
    all.push_back(unit);
  }
  EXPECT_EQ(print(shape_of_node(all, system.path())), "node:1 socket:2 numa:2 core:4");
  // Sockets are left out if there are as many regions, if there is one socket, or if sockets have
  // different numbers of regions.
  EXPECT_EQ(print(shape_of_node({0, 1, 8, 9}, system.path())), "node:1 numa:2 core:2");
  EXPECT_EQ(print(shape_of_node({0, 1, 4, 5}, system.path())), "node:1 numa:2 core:2");
  EXPECT_EQ(print(shape_of_node({0, 4, 8}, system.path())), "node:1 numa:3 core:1");
  // They are also left out if a region is in two sockets, or if a region's socket is unknown.
  system.put("cpu/cpu0/topology/physical_package_id", "7");
  EXPECT_EQ(print(shape_of_node(all, system.path())), "node:1 numa:4 core:4");
  system.put("cpu/cpu0/topology/physical_package_id", "-1");
  EXPECT_EQ(print(shape_of_node(all, system.path())), "node:1 numa:4 core:4");
}

TEST(Shape, OfANodeWithoutKnowledgeIsItsUnits) {
  EXPECT_EQ(print(shape_of_node({0, 1, 5}, "/nowhere")), "node:1 numa:1 core:3");
  const System system;
  system.put("node/online", "0-99999999999");
  system.put("cpu/cpu0/topology/thread_siblings_list", "nonsense");
  EXPECT_EQ(print(shape_of_node({0, 1}, system.path())), "node:1 numa:1 core:2");
}

}  // namespace
}  // namespace tutti::topo
