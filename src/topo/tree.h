// The machine's tree as plain data: one node, its sockets, its numa regions, the caches that cores
// share, its cores.
//
// A tree describes one node. It is a value: built once, copied freely, constant from then on, read
// by any thread. It comes from this machine, from a description ("numa:2 core:8") or from a
// recorded XML file. hwloc reads all three, and only hwloc.cpp uses hwloc. Levels that a machine
// does not have or does not report are left out, so a tree may be a node and its cores only.
//
// Every tree has these properties. Vertex 0 is the node, and a parent comes before its children. On
// the way from the node to a core, levels go from the outside in (node, socket, numa, caches
// from outer to inner, core), except that a numa region may hold several sockets. Every vertex
// covers a run of consecutive cores. Two cores or more share a socket or cache vertex; caches of a
// single core are in Core. A socket is neither the whole node nor one numa region.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::topo {

enum class Level : uint8_t { core, cache, numa, socket, node };
const char* level_name(Level level);

// A core. Its index in Tree::cores identifies it; cores are there in the order of the tree.
struct Core {
  int os_index = -1;  // its first processing unit, as taskset and sched_setaffinity count
  // OS indices, ascending; several if the core runs several threads.
  std::vector<int> processing_units;
  // [1], [2], [3]: its L1 data, L2 and L3 cache, shared or not; 0: unknown.
  std::array<uint64_t, 4> cache_bytes{};
  bool usable = true;  // the thread that built the tree may run here
  int vertex = -1;     // the core's index in Tree::vertices

  bool operator==(const Core&) const = default;
};

struct Vertex {
  Level level = Level::node;
  int first_core = 0;  // covers cores first_core ... first_core + core_count - 1
  int core_count = 0;
  int os_index = -1;    // core, numa and socket: the system's number; -1 for other levels
  int cache_depth = 0;  // cache: 2 for L2, 3 for L3
  uint64_t bytes = 0;   // cache: its size; numa: its memory; 0: unknown
  int parent = -1;
  std::vector<int> children = {};

  bool operator==(const Vertex&) const = default;
};

struct Tree {
  std::string source;  // in words: where the tree comes from
  std::vector<Core> cores;
  std::vector<Vertex> vertices;

  bool operator==(const Tree&) const = default;
};

// --- Making trees. Each function throws Error, one line with culprit and remedy. ---

// The tree of all cores that the system lets this process see. Cores outside the calling thread's
// binding are in the tree but not usable, because other ranks of the node may be bound to them.
Tree this_machine();

// The tree of a description from the outermost level inwards, "level:count" with counts inside one
// of the level before, such as "socket:2 numa:2 cache:2 core:4". Levels are socket, numa, cache and
// core; socket may also come after numa. hwloc's own words (l2, l3, pu, attributes in brackets)
// are accepted too. At most 4096 processing units.
Tree synthetic(const std::string& description);

// The tree of a file that `lstopo FILE.xml` wrote.
Tree recorded(const std::string& xml_file);

// The tree that a value of TUTTI_TOPOLOGY names: this machine if it is empty, a file if it has a
// slash or ends in .xml, or else a description.
Tree load(const std::string& topology);

// Makes a tree from cores and from groups of cores (socket, numa and cache vertices, whose parent
// and children are ignored). Groups that break the order of the levels or overlap another in part
// are left out. For hwloc.cpp and tests.
Tree assemble(std::string source, std::vector<Core> cores, std::vector<Vertex> groups);

// --- Questions ---

// The OS indices of the processing units that the calling thread may run on, ascending; empty if
// the system does not report them.
std::vector<int> binding();
// The processing units that any thread of the process may run on now. It differs from binding(),
// because a runtime such as OpenMP's binds each of its threads, the first one too, to a core of its
// own. The units of the calling thread only, if the system does not report the others.
std::vector<int> binding_of_process();

int usable_cores(const Tree& tree);

// A text for people: one indented line for each vertex, and one for equal neighbouring cores.
std::string to_text(const Tree& tree);

}  // namespace tutti::topo
