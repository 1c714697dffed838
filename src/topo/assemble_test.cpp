// Tests trees that are made from plain groups, without hwloc: nesting, groups that are left out,
// and the text.
#include <gtest/gtest.h>

#include <utility>
#include <random>

#include "base/error.h"
#include "topo/tree.h"

namespace tutti::topo {
namespace {

std::vector<Core> plain_cores(int count) {
  std::vector<Core> cores(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    cores[i].os_index = i;
    cores[i].processing_units = {i};
  }
  return cores;
}

Vertex numa(int first, int count, int os_index = 0) {
  return {.level = Level::numa, .first_core = first, .core_count = count, .os_index = os_index};
}

Vertex socket(int first, int count, int os_index = 0) {
  return {.level = Level::socket, .first_core = first, .core_count = count, .os_index = os_index};
}

Vertex cache(int first, int count, int depth = 3) {
  return {.level = Level::cache, .first_core = first, .core_count = count, .cache_depth = depth};
}

// The tree as nested brackets, cores as dots: "node(numa(..)numa(..))".
std::string shape(const Tree& tree, int vertex = 0) {
  const Vertex& at = tree.vertices[vertex];
  if (at.level == Level::core) return ".";
  std::string text =
      at.level == Level::cache ? "L" + std::to_string(at.cache_depth) : level_name(at.level);
  text += '(';
  for (const int child : at.children) text += shape(tree, child);
  return text + ')';
}

std::string assembled(int cores, std::vector<Vertex> groups) {
  return shape(assemble("test", plain_cores(cores), std::move(groups)));
}

// Checks the properties that the header promises of every tree.
void expect_sound(const Tree& tree) {
  ASSERT_EQ(tree.vertices.at(0).level, Level::node);
  ASSERT_EQ(tree.vertices[0].core_count, static_cast<int>(tree.cores.size()));
  for (int i = 0; i < static_cast<int>(tree.vertices.size()); ++i) {
    const Vertex& vertex = tree.vertices[i];
    ASSERT_EQ(vertex.parent < 0, i == 0);
    ASSERT_LT(vertex.parent, i);
    if (i > 0) {
      const Level outer = tree.vertices[vertex.parent].level;
      ASSERT_TRUE(vertex.level <= outer || (vertex.level == Level::socket && outer == Level::numa));
    }
    if (vertex.level == Level::socket) {
      ASSERT_GE(vertex.core_count, 2);
      ASSERT_LT(vertex.core_count, static_cast<int>(tree.cores.size()));
    }
    ASSERT_EQ(vertex.children.empty(), vertex.level == Level::core);
    if (vertex.level == Level::cache) {
      ASSERT_GE(vertex.core_count, 2);
    }
    int next = vertex.first_core;
    for (const int child : vertex.children) {
      ASSERT_EQ(tree.vertices[child].parent, i);
      ASSERT_EQ(tree.vertices[child].first_core, next);
      next += tree.vertices[child].core_count;
    }
    if (vertex.level == Level::core) {
      ASSERT_EQ(tree.cores[vertex.first_core].vertex, i);
    } else {
      ASSERT_EQ(next, vertex.first_core + vertex.core_count);
    }
  }
}

TEST(Assemble, NestsGroupsInAnyOrder) {
  EXPECT_EQ(assembled(4, {}), "node(....)");
  EXPECT_EQ(assembled(8, {cache(6, 2), numa(4, 4, 1), cache(0, 2), numa(0, 4, 0), cache(2, 2),
                          cache(4, 2)}),
            "node(numa(L3(..)L3(..))numa(L3(..)L3(..)))");
  EXPECT_EQ(assembled(4, {cache(0, 2, 2), cache(0, 4, 3), numa(0, 4)}), "node(numa(L3(L2(..)..)))");
  EXPECT_EQ(assembled(3, {numa(1, 1)}), "node(.numa(.).)");
}

TEST(Assemble, LeavesOutWhatNobodyShares) {
  EXPECT_EQ(assembled(2, {cache(0, 1), cache(1, 1), numa(0, 0), cache(0, 0)}), "node(..)");
}

TEST(Assemble, OfTwoCachesOverTheSameCoresTheInnerStays) {
  EXPECT_EQ(assembled(4, {cache(0, 4, 3), cache(0, 4, 2)}), "node(L2(....))");
}

TEST(Assemble, ASecondKindOfMemoryIsNoRegionOfItsOwn) {
  const Tree tree = assemble("test", plain_cores(4),
                             {numa(0, 2, 2), numa(0, 2, 0), numa(2, 2, 1), numa(2, 2, 3)});
  EXPECT_EQ(shape(tree), "node(numa(..)numa(..))");
  EXPECT_EQ(tree.vertices[1].os_index, 0);
  EXPECT_EQ(tree.vertices[4].os_index, 1);
}

TEST(Assemble, MemoryOfSeveralRegionsIsLeftOut) {
  EXPECT_EQ(assembled(4, {numa(0, 4, 2), numa(0, 2, 0), numa(2, 2, 1)}), "node(numa(..)numa(..))");
}

TEST(Assemble, ACacheThatReachesBeyondARegionIsLeftOut) {
  EXPECT_EQ(assembled(4, {cache(0, 4), numa(0, 2, 0), numa(2, 2, 1)}), "node(numa(..)numa(..))");
}

TEST(Assemble, SocketsStandAroundRegionsOrInsideThem) {
  EXPECT_EQ(
      assembled(8, {numa(0, 2), numa(2, 2), socket(0, 4), socket(4, 4), numa(4, 2), numa(6, 2)}),
      "node(socket(numa(..)numa(..))socket(numa(..)numa(..)))");
  EXPECT_EQ(assembled(8, {numa(0, 8), socket(4, 4), socket(0, 4), cache(0, 2), cache(4, 4)}),
            "node(numa(socket(L3(..)..)socket(L3(....))))");
  EXPECT_EQ(assembled(8, {numa(0, 4), numa(4, 4), socket(0, 2), socket(2, 2), socket(4, 2),
                          socket(6, 2)}),
            "node(numa(socket(..)socket(..))numa(socket(..)socket(..)))");
}

TEST(Assemble, ASocketThatIsARegionTheNodeOrACoreIsLeftOut) {
  EXPECT_EQ(assembled(4, {socket(0, 2), socket(2, 2), numa(0, 2), numa(2, 2)}),
            "node(numa(..)numa(..))");
  EXPECT_EQ(assembled(4, {socket(0, 4), numa(0, 2), numa(2, 2)}), "node(numa(..)numa(..))");
  EXPECT_EQ(assembled(2, {socket(0, 1), socket(1, 1), numa(0, 2)}), "node(numa(..))");
  // One socket has one region, and the other has two.
  EXPECT_EQ(assembled(6, {socket(0, 2), numa(0, 2), socket(2, 4), numa(2, 2), numa(4, 2)}),
            "node(numa(..)socket(numa(..)numa(..)))");
}

TEST(Assemble, MemoryOfAllAndCachesBeyondASocketAreLeftOut) {
  EXPECT_EQ(assembled(8, {numa(0, 8, 4), socket(0, 4), socket(4, 4), numa(0, 2), numa(2, 2),
                          numa(4, 2), numa(6, 2)}),
            "node(socket(numa(..)numa(..))socket(numa(..)numa(..)))");
  EXPECT_EQ(assembled(4, {cache(0, 4), socket(0, 2), socket(2, 2)}), "node(socket(..)socket(..))");
}

TEST(Assemble, GroupsThatOverlapInPartOrLieOutsideAreLeftOut) {
  EXPECT_EQ(assembled(4, {cache(0, 3), cache(2, 2)}), "node(L3(...).)");
  EXPECT_EQ(assembled(2, {cache(1, 5), cache(-1, 2), numa(2, 1), cache(1, 2147483647)}),
            "node(..)");
}

TEST(Assemble, RandomGroupsAlwaysGiveASoundTree) {
  std::mt19937 random(20240);
  for (int round = 0; round < 2000; ++round) {
    const int cores = 1 + static_cast<int>(random() % 12);
    std::vector<Vertex> groups(random() % 12);
    for (Vertex& group : groups) {
      const int first = static_cast<int>(random() % 14) - 1;
      const int count = static_cast<int>(random() % 14);
      switch (random() % 3) {
        case 0: group = numa(first, count, static_cast<int>(random() % 4)); break;
        case 1: group = socket(first, count, static_cast<int>(random() % 4)); break;
        default: group = cache(first, count, 2 + static_cast<int>(random() % 2));
      }
    }
    const Tree tree = assemble("test", plain_cores(cores), groups);
    ASSERT_NO_FATAL_FAILURE(expect_sound(tree)) << shape(tree);
  }
}

TEST(Assemble, NoCoresIsAnError) { EXPECT_THROW(assemble("test", {}, {}), Error); }

TEST(Questions, Usable) {
  std::vector<Core> cores = plain_cores(2);
  cores[1].usable = false;
  EXPECT_EQ(usable_cores(assemble("test", cores, {})), 1);
}

TEST(Text, AlikeCoresShareALine) {
  std::vector<Core> cores = plain_cores(4);
  for (Core& core : cores) core.cache_bytes = {0, 32 * 1024, 1024 * 1024, 32 * 1024 * 1024};
  cores[0].processing_units = {0, 4};
  cores[3].usable = false;
  Vertex region = numa(0, 4, 7);
  region.bytes = uint64_t{3} << 30;
  Vertex shared = cache(0, 3);
  shared.bytes = 32 * 1024 * 1024;
  EXPECT_EQ(to_text(assemble("a test", cores, {region, shared})),
            "node: 4 cores, 3 usable (a test)\n"
            "  numa 7: 4 cores, 3 GiB\n"
            "    cache L3: 3 cores, 32 MiB\n"
            "      cores 0-2, cpus 0-2,4, L1 32 KiB, L2 1 MiB\n"
            "    core 3, cpu 3, L1 32 KiB, L2 1 MiB, L3 32 MiB, outside the binding\n");
}

}  // namespace
}  // namespace tutti::topo
