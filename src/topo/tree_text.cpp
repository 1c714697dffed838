// The text of a tree that `tutti doctor` prints.
#include <algorithm>

#include "base/text.h"
#include "topo/tree.h"

namespace tutti::topo {
namespace {

// A list such as "0-3,8" for ascending numbers.
std::string ranges(const std::vector<int>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(numbers[i]);
    if (end - i > 1) text += '-' + std::to_string(numbers[end - 1]);
    i = end;
  }
  return text;
}

std::string counted(int count, const char* what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

bool alike(const Core& a, const Core& b) {
  return a.cache_bytes == b.cache_bytes && a.usable == b.usable;
}

// True if the cache of this depth has a line of its own above the core.
bool has_vertex(const Tree& tree, int core, int depth) {
  for (int i = tree.cores[core].vertex; i >= 0; i = tree.vertices[i].parent) {
    if (tree.vertices[i].level == Level::cache && tree.vertices[i].cache_depth == depth)
      return true;
  }
  return false;
}

// The line of the cores first ... end - 1, which are equal.
std::string cores_line(const Tree& tree, int first, int end) {
  const bool one = end - first == 1;
  std::vector<int> units;
  for (int core = first; core < end; ++core) {
    units.insert(units.end(), tree.cores[core].processing_units.begin(),
                 tree.cores[core].processing_units.end());
  }
  std::sort(units.begin(), units.end());
  std::string text = (one ? "core " : "cores ") + std::to_string(first);
  if (!one) text += '-' + std::to_string(end - 1);
  text += (units.size() == 1 ? ", cpu " : ", cpus ") + ranges(units);
  for (int depth = 1; depth <= 3; ++depth) {
    const uint64_t bytes = tree.cores[first].cache_bytes[static_cast<size_t>(depth)];
    if (bytes > 0 && !has_vertex(tree, first, depth))
      text += ", L" + std::to_string(depth) + ' ' + readable_bytes(bytes);
  }
  if (!tree.cores[first].usable) text += ", outside the binding";
  return text;
}

std::string vertex_line(const Tree& tree, const Vertex& vertex) {
  const std::string cores = counted(vertex.core_count, "core");
  const std::string size = vertex.bytes > 0 ? ", " + readable_bytes(vertex.bytes) : "";
  switch (vertex.level) {
    case Level::node:
      return "node: " + cores + ", " + std::to_string(usable_cores(tree)) + " usable (" +
             tree.source + ")";
    case Level::numa: return "numa " + std::to_string(vertex.os_index) + ": " + cores + size;
    case Level::socket: return "socket " + std::to_string(vertex.os_index) + ": " + cores;
    case Level::cache: return "cache L" + std::to_string(vertex.cache_depth) + ": " + cores + size;
    case Level::core: return cores_line(tree, vertex.first_core, vertex.first_core + 1);
  }
  return "";
}

void append_vertex(const Tree& tree, const Vertex& vertex, size_t indent, std::string* text) {
  *text += std::string(indent, ' ') + vertex_line(tree, vertex) + '\n';
  for (size_t i = 0; i < vertex.children.size();) {
    const Vertex& child = tree.vertices[vertex.children[i]];
    size_t end = i + 1;
    if (child.level != Level::core) {
      append_vertex(tree, child, indent + 2, text);
    } else {
      const int first = child.first_core;
      const auto joins = [&](int other) {
        const Vertex& next = tree.vertices[other];
        return next.level == Level::core && alike(tree.cores[first], tree.cores[next.first_core]);
      };
      while (end < vertex.children.size() && joins(vertex.children[end])) ++end;
      *text += std::string(indent + 2, ' ') +
               cores_line(tree, first, first + static_cast<int>(end - i)) + '\n';
    }
    i = end;
  }
}

}  // namespace

std::string to_text(const Tree& tree) {
  std::string text;
  append_vertex(tree, tree.vertices.at(0), 0, &text);
  return text;
}

}  // namespace tutti::topo
