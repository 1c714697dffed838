// Which nodes lie near each other: clusters, with slower links between them than within.
//
// Told by a file, since a machine does not know (TUTTI_CLUSTERS):
//
//   tutti-clusters 1
//   west: node1 node2
//   east: node3 node4 node5      # a comment
//
// A line a cluster, with the host names of its nodes, in full or up to the first dot. Text is
// untrusted input: sizes are bounded. Values, constant once made; any thread. Source: PATHS,
// section 6 (two clusters over a slow link).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::topo {

class Clusters {
 public:
  // Throws Error(invalid_argument) "NAME:LINE: what is wrong; what would be right".
  static Clusters read(std::string_view text, std::string_view name);

  // The number of a host's cluster, in the order of the file; -1 where it is in none.
  int32_t of(std::string_view host) const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, int32_t, std::less<>> hosts_;
};

}  // namespace tutti::topo
