// The choice of transfers that servers get: all, none, those above a length, or those that gain by
// a saturation map. Any thread.
//
// The rank that starts servers tells all ranks one number, the least bytes of a transfer that a
// server may get. So a rank knows by one comparison that it executes a transfer itself. 0: servers
// get all; UINT64_MAX: none. A rank treats longer transfers by its policy, which follows from the
// number and, if TUTTI_SATURATION names a map, from the map.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rma/policy.h"
#include "rma/saturation.h"
#include "tutti/tutti.h"

namespace tutti::api {

// `share`: the servers share the ranks' cores, so they only take time from the ranks.
uint64_t least_bytes_of(tutti_serve serve, bool share, const rma::Crew& crew);
rma::Policy policy_for(uint64_t least_bytes, const rma::Crew& crew);

// The maps that TUTTI_SATURATION names, which are read once. A file that is missing, broken, of
// another machine, or of the same scope as one before it is left out. One process of a job on a
// node says so in one line, and all go on without it.
struct SaturationMaps {
  std::optional<rma::SaturationMap> node, between_nodes;
  std::string file_of_node, file_between_nodes;  // for the report; empty: none
};
const SaturationMaps& saturation_maps();

}  // namespace tutti::api
