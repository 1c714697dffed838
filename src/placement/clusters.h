// Clusters: groups of nodes with slower links between them than within.
//
// No machine reports them, so a file defines them, which TUTTI_CLUSTERS names:
//
//   tutti-clusters 1
//   west: node1 node2
//   east: node3 node4 node5      # a comment
//
// Each line has a cluster's name and the host names of its nodes, in full or up to the first dot.
// The text is untrusted input, so sizes are bounded. Values, constant once made; any thread.
// Source: PATHS, section 6 (two clusters over a slow link).
#pragma once

#include <functional>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::placement {

class Clusters {
 public:
  // Throws Error(invalid_argument) "NAME:LINE: the fault; the remedy".
  static Clusters read(std::string_view text, std::string_view name);

  // The number of a host's cluster, in the order of the file; -1 if the host is in none.
  int32_t of(std::string_view host) const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, int32_t, std::less<>> hosts_;
};

}  // namespace tutti::placement
