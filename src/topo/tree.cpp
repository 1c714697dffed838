#include "topo/tree.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "topo/description.h"

namespace tutti::topo {
namespace {

int end_core(const Vertex& vertex) { return vertex.first_core + vertex.core_count; }

// Orders vertices so that each comes before those that it covers. If two cover the same cores, the
// outer level, then the outer cache, then the lower index comes first.
bool stands_before(const Vertex& a, const Vertex& b) {
  return std::tuple(a.first_core, -a.core_count, -static_cast<int>(a.level), -a.cache_depth,
                    a.os_index) < std::tuple(b.first_core, -b.core_count,
                                             -static_cast<int>(b.level), -b.cache_depth,
                                             b.os_index);
}

bool same_run(const Vertex& a, const Vertex& b) {
  return a.first_core == b.first_core && a.core_count == b.core_count;
}

// True if a group adds nothing to the node or to a single core.
bool says_nothing(const Vertex& group, int core_count) {
  if (group.level == Level::socket) return group.core_count < 2 || group.core_count == core_count;
  return group.core_count < (group.level == Level::cache ? 2 : 1);
}

// Removes groups, in this order: groups that cover no core, and caches of a single core; groups
// that overlap another in part; the second of two numa regions over the same cores (a second kind
// of memory); the outer of two caches over the same cores; a socket over the same cores as a numa
// region. It also removes memory that belongs to several numa regions and caches that reach beyond
// one region or socket, so that levels go from the outside in on the way to a core.
std::vector<Vertex> usable_groups(std::vector<Vertex> groups, int core_count) {
  std::erase_if(groups, [core_count](const Vertex& group) {
    return group.level == Level::node || group.level == Level::core ||
           says_nothing(group, core_count) || group.first_core < 0 ||
           group.core_count > core_count || group.first_core > core_count - group.core_count;
  });
  std::sort(groups.begin(), groups.end(), stands_before);
  std::vector<bool> dropped(groups.size(), false);
  std::vector<size_t> open;  // the groups around the current one, outer first
  for (size_t i = 0; i < groups.size(); ++i) {
    const Vertex& group = groups[i];
    while (!open.empty() && end_core(groups[open.back()]) <= group.first_core) open.pop_back();
    if (!open.empty() && end_core(groups[open.back()]) < end_core(group)) {
      dropped[i] = true;
      continue;
    }
    if (group.level != Level::cache) {
      const bool repeated = !open.empty() && groups[open.back()].level == group.level &&
                            same_run(groups[open.back()], group);
      if (repeated) {
        dropped[i] = true;
        continue;
      }
      // Open sockets around numa regions stay, and so do open numa regions around sockets.
      for (const size_t outer : open) {
        const Vertex& around = groups[outer];
        if (around.level == Level::cache || around.level == group.level || same_run(around, group))
          dropped[outer] = true;
      }
    } else if (!open.empty() && groups[open.back()].level == Level::cache &&
               same_run(groups[open.back()], group)) {
      dropped[open.back()] = true;
    }
    open.push_back(i);
  }
  std::vector<Vertex> kept;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!dropped[i]) kept.push_back(std::move(groups[i]));
  }
  return kept;
}

}  // namespace

const char* level_name(Level level) {
  switch (level) {
    case Level::core: return "core";
    case Level::cache: return "cache";
    case Level::numa: return "numa";
    case Level::socket: return "socket";
    case Level::node: return "node";
  }
  return "unknown";
}

Tree assemble(std::string source, std::vector<Core> cores, std::vector<Vertex> groups) {
  if (cores.empty())
    throw Error(Code::invalid_argument, source + ": no cores; give a topology that has some");
  const int core_count = static_cast<int>(cores.size());
  Tree tree{.source = std::move(source), .cores = std::move(cores), .vertices = {}};
  tree.vertices = usable_groups(std::move(groups), core_count);
  tree.vertices.push_back({.level = Level::node, .core_count = core_count});
  for (int i = 0; i < core_count; ++i) {
    tree.vertices.push_back({.level = Level::core,
                             .first_core = i,
                             .core_count = 1,
                             .os_index = tree.cores[i].os_index});
  }
  std::sort(tree.vertices.begin(), tree.vertices.end(), stands_before);
  std::vector<int> open;
  for (int i = 0; i < static_cast<int>(tree.vertices.size()); ++i) {
    Vertex& vertex = tree.vertices[i];
    while (!open.empty() && end_core(tree.vertices[open.back()]) <= vertex.first_core)
      open.pop_back();
    vertex.parent = open.empty() ? -1 : open.back();
    vertex.children.clear();
    if (vertex.parent >= 0) tree.vertices[vertex.parent].children.push_back(i);
    if (vertex.level == Level::core) tree.cores[vertex.first_core].vertex = i;
    open.push_back(i);
  }
  return tree;
}

Tree load(const std::string& topology) {
  if (topology.empty()) return this_machine();
  return names_file(topology) ? recorded(topology) : synthetic(topology);
}

int usable_cores(const Tree& tree) {
  const auto usable = [](const Core& core) { return core.usable; };
  return static_cast<int>(std::count_if(tree.cores.begin(), tree.cores.end(), usable));
}

}  // namespace tutti::topo
