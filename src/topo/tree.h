// The machine's tree as plain data: one node, its sockets, its numa regions, the caches that cores
// share, its cores.
//
// A tree describes one node. It is a value: built once, copied freely, constant from then on, read
// by any thread. It comes from this machine, from a description ("numa:2 core:8") or from a
// recorded XML file; hwloc does the reading and is known to hwloc.cpp only. Levels that a machine
// does not have, or does not tell, are left out, so a tree may be a node with cores and nothing
// between.
//
// What holds in every tree: vertex 0 is the node; a parent stands before its children; on the way
// from the node to a core the levels never rise (node, socket, numa, caches from outer to inner,
// core), but that a numa region may hold several sockets; every vertex covers a run of cores that
// follow each other; a socket or cache vertex is shared by two cores or more (what one core has for
// itself stands in Core), and a socket is neither the whole node nor one numa region.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::topo {

enum class Level : uint8_t { core, cache, numa, socket, node };
const char* level_name(Level level);

// A core, known by its place in Tree::cores, which is the order of the tree.
struct Core {
  int os_index = -1;  // its first processing unit, as taskset and sched_setaffinity count
  std::vector<int>
      processing_units;  // OS indices, ascending; several where the core runs several threads
  std::array<uint64_t, 4>
      cache_bytes{};   // [1], [2], [3]: its L1 data, L2 and L3 cache, shared or not; 0: unknown
  bool usable = true;  // the thread that built the tree may run here
  int vertex = -1;     // the core's place in Tree::vertices

  bool operator==(const Core&) const = default;
};

struct Vertex {
  Level level = Level::node;
  int first_core = 0;  // covers cores first_core ... first_core + core_count - 1
  int core_count = 0;
  int os_index = -1;    // core, numa and socket: the number that the system gives it; elsewhere -1
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

// --- where trees come from: each throws Error, one line with culprit and remedy ---

// All cores that the system lets this process see. Those outside the calling thread's binding are
// there, but not usable: other ranks of the node may be bound to them.
Tree this_machine();

// A description from the outermost level inwards, "level:count" with counts inside one of the level
// before, such as "socket:2 numa:2 cache:2 core:4". Levels are socket, numa, cache, core, of which
// socket may also stand behind numa; what hwloc adds to that (l2, l3, pu, attributes in brackets)
// is taken as well. At most 4096 processing units.
Tree synthetic(const std::string& description);

// A file that `lstopo FILE.xml` wrote.
Tree recorded(const std::string& xml_file);

// By the text of TUTTI_TOPOLOGY: empty for this machine, a file (it has a slash or ends in .xml),
// or a description.
Tree load(const std::string& topology);

// Nests groups (socket, numa and cache vertices; parent and children are ignored) over cores into a
// tree. Groups that break the order of the levels or overlap another in part are left out. For
// hwloc.cpp and tests.
Tree assemble(std::string source, std::vector<Core> cores, std::vector<Vertex> groups);

// The part of a tree that holds these processing units, for instance the union of the bindings of a
// group's ranks: the other cores and processing units are gone, the rest is usable. Throws Error
// when nothing is left.
Tree restricted(const Tree& tree, const std::vector<int>& processing_units);

// --- questions ---

// The OS indices of the processing units that the calling thread may run on, ascending; empty if
// the system won't say.
std::vector<int> binding();
// Those that any thread of the process may run on now: a runtime such as OpenMP's binds each of its
// threads, the first one too, to a core of its own. The calling thread's where the system won't
// say.
std::vector<int> binding_of_process();

int usable_cores(const Tree& tree);

// The core that a processing unit belongs to; -1: none.
int find_core(const Tree& tree, int processing_unit);

// The lowest vertex that covers both cores, and its level: core if they are the same.
int common_vertex(const Tree& tree, int core_a, int core_b);
Level common_level(const Tree& tree, int core_a, int core_b);

// For people: a line a vertex, indented, alike cores in one line.
std::string to_text(const Tree& tree);

}  // namespace tutti::topo
