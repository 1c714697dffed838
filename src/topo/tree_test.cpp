// Tests trees that are read through hwloc: this machine, descriptions, recorded files.
#include "topo/tree.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "placement/levels.h"
#include "topo/description.h"

namespace tutti::topo {
namespace {

// The core of a processing unit; null if there is none.
const Core* find_core(const Tree& tree, int unit) {
  for (const Core& core : tree.cores)
    for (const int its : core.processing_units)
      if (its == unit) return &core;
  return nullptr;
}

// The lowest vertex that covers both cores, and its level: core if they are the same.
const Vertex& common_vertex(const Tree& tree, int one, int other) {
  int vertex = tree.cores.at(one).vertex;
  for (;; vertex = tree.vertices[vertex].parent) {
    const Vertex& at = tree.vertices[vertex];
    if (at.first_core <= other && other < at.first_core + at.core_count) return at;
  }
}

Level common_level(const Tree& tree, int one, int other) {
  return common_vertex(tree, one, other).level;
}

std::string refusal(const std::string& topology) {
  try {
    load(topology);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    return error.what();
  }
}

// A file that a test makes, and that is removed when the test ends.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& text)
      : path_(testing::TempDir() + std::to_string(getpid()) + name) {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

int count_level(const Tree& tree, Level level) {
  return static_cast<int>(
      std::count_if(tree.vertices.begin(), tree.vertices.end(),
                    [level](const Vertex& vertex) { return vertex.level == level; }));
}

std::string given_refusal(const std::string& value) {
  try {
    check_given(value);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    return error.what();
  }
}

// Libraries without hwloc must tell these from nonsense: all that load() or parse_shape() takes.
TEST(Given, ShapesDescriptionsAndFilesAreAccepted) {
  const TemporaryFile file("given.xml", "<?xml version=\"1.0\"?><topology version=\"2.0\">");
  for (const std::string value :
       {"", "core:8", "node:2 numa:4 core:16", "cluster:2 node:2 core:1", "numa:2 socket:2 core:4",
        "node:1 numa:2 cache:2 cache:2 core:2", "cache:1(size=1048576) core:2", "2 4",
        "Package:2 L3Cache:1 core:4 pu:2", "socket:2 [numa] core:4", file.path().c_str()})
    EXPECT_EQ(given_refusal(value), "") << value;
}

TEST(Given, NonsenseIsRefusedByOneLine) {
  const TemporaryFile binary("binary.xml",
                             "\x7f"
                             "ELF\x01\x02");
  for (const std::string value :
       {"nonsense", "nonsense:2", "numa:2 nonsense:4", "core:8 numa:2", "core:0",
        "core:", "/nowhere", "nowhere.xml", "core:-1", binary.path().c_str()}) {
    const std::string message = given_refusal(value);
    EXPECT_NE(message.find('"' + value + '"'), std::string::npos) << value << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST(Synthetic, NumaAndCores) {
  const Tree tree = synthetic("numa:2 core:8");
  EXPECT_EQ(tree.cores.size(), 16u);
  EXPECT_EQ(usable_cores(tree), 16);
  EXPECT_EQ(count_level(tree, Level::numa), 2);
  EXPECT_EQ(count_level(tree, Level::cache), 0);
  EXPECT_EQ(tree.cores[9].os_index, 9);
  EXPECT_EQ(common_level(tree, 0, 7), Level::numa);
  EXPECT_EQ(common_level(tree, 7, 8), Level::node);
  EXPECT_EQ(tree.source, "synthetic numa:2 core:8");
}

TEST(Synthetic, Caches) {
  const Tree tree = synthetic("node:1 numa:2 cache:2 cache:2 core:2");
  EXPECT_EQ(tree.cores.size(), 16u);
  EXPECT_EQ(count_level(tree, Level::cache), 4 + 8);
  const Vertex& inner = common_vertex(tree, 0, 1);
  const Vertex& outer = common_vertex(tree, 1, 2);
  EXPECT_EQ(inner.cache_depth, 2);
  EXPECT_EQ(outer.cache_depth, 3);
  EXPECT_EQ(tree.cores[0].cache_bytes[2], inner.bytes);
  EXPECT_EQ(tree.cores[0].cache_bytes[3], outer.bytes);
  EXPECT_GT(inner.bytes, 0u);
  EXPECT_EQ(synthetic("cache:1(size=1048576) core:2").cores[1].cache_bytes[3], 1048576u);
}

TEST(Synthetic, SocketsAreThereWhereTheyDifferFromRegions) {
  const Tree tree = synthetic("socket:2 numa:2 cache:2 core:2");
  EXPECT_EQ(count_level(tree, Level::socket), 2);
  EXPECT_EQ(count_level(tree, Level::numa), 4);
  EXPECT_EQ(common_level(tree, 0, 3), Level::numa);
  EXPECT_EQ(common_level(tree, 0, 7), Level::socket);
  EXPECT_EQ(common_level(tree, 7, 8), Level::node);
  // First several sockets in one region, by either word for them; then sockets that are one region
  // each.
  for (const char* text : {"socket:2 core:4", "numa:1 socket:2 core:4", "package:2 core:4"}) {
    const Tree in_region = synthetic(text);
    EXPECT_EQ(count_level(in_region, Level::socket), 2) << text;
    EXPECT_EQ(count_level(in_region, Level::numa), 1) << text;
    EXPECT_EQ(common_level(in_region, 0, 3), Level::socket) << text;
    EXPECT_EQ(common_level(in_region, 0, 4), Level::numa) << text;
  }
  EXPECT_EQ(synthetic("socket:2 numa:1 core:4").vertices, synthetic("numa:2 core:4").vertices);
  EXPECT_EQ(count_level(synthetic("socket:1 numa:2 core:2"), Level::socket), 0);
  EXPECT_EQ(count_level(synthetic("socket:4 core:1"), Level::socket), 0);
}

TEST(Synthetic, ThreadsOfACore) {
  const Tree tree = synthetic("core:2 pu:2");
  ASSERT_EQ(tree.cores.size(), 2u);
  EXPECT_EQ(tree.cores[1].processing_units, (std::vector<int>{2, 3}));
  EXPECT_EQ(tree.cores[1].os_index, 2);
}

TEST(Synthetic, WhatHwlocAddsIsTaken) {
  EXPECT_EQ(synthetic("package:2 [numa] l3:2 l2:2 core:1 pu:2").cores.size(), 8u);
  EXPECT_EQ(synthetic("2 4").cores.size(), 8u);
  EXPECT_EQ(synthetic("pu:4").cores.size(), 4u);
}

TEST(Synthetic, RefusalsAreOneLineWithTheRemedy) {
  const std::string remedy =
      "; write levels from the outside in, such as \"socket:2 numa:2 cache:2 core:4\"";
  EXPECT_EQ(
      refusal("node:2 core:4"),
      "topology \"node:2 core:4\": a tree is one node, and regions of its memory are called numa" +
          remedy);
  EXPECT_EQ(refusal("core:2 numa:2"),
            "topology \"core:2 numa:2\": numa stands inside core" + remedy);
  EXPECT_EQ(refusal("cache:2 socket:2"),
            "topology \"cache:2 socket:2\": socket stands inside cache" + remedy);
  EXPECT_EQ(refusal("numa:2 core"),
            "topology \"numa:2 core\": \"core\" has no count of 1 or more" + remedy);
  EXPECT_EQ(refusal("cache:1 cache:1 cache:1 core:1"),
            "topology \"cache:1 cache:1 cache:1 core:1\": more than two levels of caches" + remedy);
  EXPECT_EQ(refusal("house:2"), "topology \"house:2\": hwloc does not understand it" + remedy);
  EXPECT_EQ(refusal("numa:64 core:65"),
            "topology \"numa:64 core:65\": more than 4096 processing units" + remedy);
  EXPECT_EQ(
      refusal("numa:2 core:18446744073709551616"),
      "topology \"numa:2 core:18446744073709551616\": more than 4096 processing units" + remedy);
  for (const char* bad : {" ", "core:0", "core:-1", "core:4097", "core:", ":", "[numa]", "[", "(",
                          "node:1", "core:4\tpu:2", "core:2 core:2", "core:4 (x)", "a\nb:2"}) {
    const std::string message = refusal(bad);
    EXPECT_NE(message, "") << bad;
    EXPECT_EQ(message.find('\n'), std::string::npos) << bad;
  }
}

TEST(ThisMachine, HasTheCoresOfTheBinding) {
  const Tree tree = this_machine();
  const std::vector<int> bound = binding();
  ASSERT_FALSE(bound.empty());
  EXPECT_TRUE(std::is_sorted(bound.begin(), bound.end()));
  const int usable = usable_cores(tree);
  EXPECT_GE(usable, 1);
  EXPECT_LE(usable, static_cast<int>(bound.size()));
  for (const int unit : bound) EXPECT_NE(find_core(tree, unit), nullptr) << unit;
  EXPECT_EQ(tree.cores, load("").cores);
}

TEST(ThisMachine, ANarrowerBindingHidesNoCore) {
  const std::vector<int> bound = binding();
  ASSERT_FALSE(bound.empty());
  const Tree whole = this_machine();
  std::thread([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(bound.back(), &set);
    ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
    EXPECT_EQ(binding(), std::vector<int>{bound.back()});
    const Tree tree = this_machine();
    EXPECT_EQ(tree.cores.size(), whole.cores.size());
    EXPECT_EQ(usable_cores(tree), 1);
    const Core* const last = find_core(tree, bound.back());
    EXPECT_TRUE(last != nullptr && last->usable);
  }).join();
}

TEST(ThisMachine, AProcessMayUseWhatAnyOfItsThreadsMay) {
  const std::vector<int> bound = binding();
  ASSERT_FALSE(bound.empty());
  // The process's first thread keeps its binding, so binding another thread to one core changes
  // nothing.
  std::thread([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(bound.back(), &set);
    ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
    EXPECT_EQ(binding_of_process(), bound);
    // When the first thread is bound as well, the result is the units of the two threads.
    CPU_ZERO(&set);
    CPU_SET(bound.front(), &set);
    ASSERT_EQ(sched_setaffinity(getpid(), sizeof set, &set), 0);
    EXPECT_EQ(binding_of_process(),
              bound.size() > 1 ? (std::vector<int>{bound.front(), bound.back()}) : bound);
    for (const int unit : bound) CPU_SET(unit, &set);
    ASSERT_EQ(sched_setaffinity(getpid(), sizeof set, &set), 0);
  }).join();
}

// A machine with two regions of two cores of two threads, where the second core of region 1 is not
// allowed, and whose L3 caches are the packages'.
constexpr const char* recorded_machine = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x3f" complete_cpuset="0xff" allowed_cpuset="0x3f" nodeset="0x3" complete_nodeset="0x3" allowed_nodeset="0x3" gp_index="1">
    <object type="Package" os_index="0" cpuset="0x0f" complete_cpuset="0x0f" nodeset="0x1" complete_nodeset="0x1" gp_index="2">
      <object type="NUMANode" os_index="0" cpuset="0x0f" complete_cpuset="0x0f" nodeset="0x1" complete_nodeset="0x1" gp_index="3" local_memory="2147483648"/>
      <object type="L3Cache" cpuset="0x0f" complete_cpuset="0x0f" nodeset="0x1" complete_nodeset="0x1" gp_index="4" cache_size="8388608" depth="3" cache_linesize="64" cache_associativity="16" cache_type="0">
        <object type="Core" os_index="0" cpuset="0x03" complete_cpuset="0x03" nodeset="0x1" complete_nodeset="0x1" gp_index="5">
          <object type="PU" os_index="0" cpuset="0x01" complete_cpuset="0x01" nodeset="0x1" complete_nodeset="0x1" gp_index="6"/>
          <object type="PU" os_index="1" cpuset="0x02" complete_cpuset="0x02" nodeset="0x1" complete_nodeset="0x1" gp_index="7"/>
        </object>
        <object type="Core" os_index="1" cpuset="0x0c" complete_cpuset="0x0c" nodeset="0x1" complete_nodeset="0x1" gp_index="8">
          <object type="PU" os_index="2" cpuset="0x04" complete_cpuset="0x04" nodeset="0x1" complete_nodeset="0x1" gp_index="9"/>
          <object type="PU" os_index="3" cpuset="0x08" complete_cpuset="0x08" nodeset="0x1" complete_nodeset="0x1" gp_index="10"/>
        </object>
      </object>
    </object>
    <object type="Package" os_index="1" cpuset="0x30" complete_cpuset="0xf0" nodeset="0x2" complete_nodeset="0x2" gp_index="11">
      <object type="NUMANode" os_index="1" cpuset="0x30" complete_cpuset="0xf0" nodeset="0x2" complete_nodeset="0x2" gp_index="12" local_memory="2147483648"/>
      <object type="L3Cache" cpuset="0x30" complete_cpuset="0xf0" nodeset="0x2" complete_nodeset="0x2" gp_index="13" cache_size="8388608" depth="3" cache_linesize="64" cache_associativity="16" cache_type="0">
        <object type="Core" os_index="2" cpuset="0x30" complete_cpuset="0x30" nodeset="0x2" complete_nodeset="0x2" gp_index="14">
          <object type="PU" os_index="4" cpuset="0x10" complete_cpuset="0x10" nodeset="0x2" complete_nodeset="0x2" gp_index="15"/>
          <object type="PU" os_index="5" cpuset="0x20" complete_cpuset="0x20" nodeset="0x2" complete_nodeset="0x2" gp_index="16"/>
        </object>
      </object>
    </object>
  </object>
</topology>
)";

TEST(Recorded, AMachineWithACoreHidden) {
  const TemporaryFile file("machine.xml", recorded_machine);
  const Tree tree = load(file.path());
  EXPECT_EQ(to_text(tree), "node: 3 cores, 3 usable (" + file.path() +
                               ")\n"
                               "  numa 0: 2 cores, 2 GiB\n"
                               "    cache L3: 2 cores, 8 MiB\n"
                               "      cores 0-1, cpus 0-3\n"
                               "  numa 1: 1 core, 2 GiB\n"
                               "    core 2, cpus 4-5, L3 8 MiB\n");
}

// The file that lstopo writes for two sockets of two regions each, of two cores each.
std::string clustered_machine() {
  const auto set = [](int first, int count) {
    char text[16];
    snprintf(text, sizeof text, "0x%x", ((1 << count) - 1) << first);
    return std::string(text);
  };
  int number = 0;
  const auto object = [&](const std::string& type, int at, const std::string& cores,
                          const std::string& regions, const std::string& more) {
    std::string text = "<object type=\"" + type + "\" os_index=\"" + std::to_string(at) +
                       "\" gp_index=\"" + std::to_string(++number) + "\"";
    for (const char* name : {"cpuset", "complete_cpuset"})
      text.append(" ").append(name).append("=\"").append(cores).append("\"");
    for (const char* name : {"nodeset", "complete_nodeset"})
      text.append(" ").append(name).append("=\"").append(regions).append("\"");
    if (type == "Machine") text += " allowed_cpuset=\"0xff\" allowed_nodeset=\"0xf\"";
    return text + more;
  };
  std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
      "<topology version=\"2.0\">";
  text += object("Machine", 0, "0xff", "0xf", ">");
  for (int socket = 0; socket < 2; ++socket) {
    text += object("Package", socket, set(4 * socket, 4), set(2 * socket, 2), ">");
    for (int region = 2 * socket; region < 2 * socket + 2; ++region) {
      const std::string cores = set(2 * region, 2), memory = set(region, 1);
      text += object("Group", region, cores, memory, " kind=\"1001\" subkind=\"0\">");
      text += object("NUMANode", region, cores, memory, " local_memory=\"1073741824\"/>");
      for (int core = 2 * region; core < 2 * region + 2; ++core) {
        text += object("Core", core, set(core, 1), memory, ">") +
                object("PU", core, set(core, 1), memory, "/></object>");
      }
      text += "</object>";
    }
    text += "</object>";
  }
  return text + "</object></topology>";
}

TEST(Recorded, SocketsOfSeveralRegions) {
  const TemporaryFile file("clustered.xml", clustered_machine());
  const Tree tree = load(file.path());
  EXPECT_EQ(to_text(tree), "node: 8 cores, 8 usable (" + file.path() +
                               ")\n"
                               "  socket 0: 4 cores\n"
                               "    numa 0: 2 cores, 1 GiB\n"
                               "      cores 0-1, cpus 0-1\n"
                               "    numa 1: 2 cores, 1 GiB\n"
                               "      cores 2-3, cpus 2-3\n"
                               "  socket 1: 4 cores\n"
                               "    numa 2: 2 cores, 1 GiB\n"
                               "      cores 4-5, cpus 4-5\n"
                               "    numa 3: 2 cores, 1 GiB\n"
                               "      cores 6-7, cpus 6-7\n");
  EXPECT_EQ(tree.vertices, synthetic("socket:2 numa:2(memory=1073741824) core:2").vertices);
  const placement::Levels levels =
      placement::levels_of({{0}, {2}, {3}, {4}, {5}, {6}}, machine_units(tree));
  EXPECT_EQ(levels.contents(), "socket:0,0,0,1,1,1 numa:0,1,1,2,2,3");
}

// Threads of a core are together. The L3 caches add nothing to the regions.
TEST(Recorded, RanksOnItHaveLevels) {
  const TemporaryFile file("levels.xml", recorded_machine);
  const MachineUnits units = machine_units(load(file.path()));
  EXPECT_EQ(placement::levels_of({{0}, {1}, {2, 3}, {4}, {5}}, units).contents(),
            "numa:0,0,0,1,1 core:0,0,1,2,2");
  EXPECT_EQ(placement::levels_of({{4, 5}, {0, 1, 2, 3}, {0, 1, 2, 3}}, units).contents(),
            "numa:0,1,1");
  EXPECT_TRUE(placement::levels_of({{0}, {2}, {6}}, units).one_level());  // 6 is hidden
}

TEST(Recorded, FilesThatAreNone) {
  const TemporaryFile garbage("garbage.xml", "neither XML nor anything");
  const TemporaryFile empty("empty.xml", "");
  for (const std::string& path :
       {garbage.path(), empty.path(), std::string("missing.xml"), std::string("/")}) {
    EXPECT_EQ(refusal(path),
              "topology file \"" + path + "\" cannot be read; record one with: lstopo FILE.xml");
  }
  EXPECT_THROW(recorded("-"), Error);
}

}  // namespace
}  // namespace tutti::topo
