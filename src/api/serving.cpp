#include "api/serving.h"

#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/only_one.h"
#include "base/options.h"

namespace tutti::api {
namespace {

using rma::Crew;
using rma::Policy;
using rma::Serve;

// Throws Error, whose message names the file.
void read_map(const std::string& file, SaturationMaps& maps) {
  rma::SaturationMap map = rma::load_saturation_of_here(file);
  const bool of_node = map.scope == rma::Scope::node;
  std::optional<rma::SaturationMap>& place = of_node ? maps.node : maps.between_nodes;
  if (place)
    throw Error(Code::invalid_argument, file + ": is a second map " +
                                            (of_node ? "of a node" : "between nodes") +
                                            "; name one of each that `tutti bench saturation` has "
                                            "measured");
  place = std::move(map);
  (of_node ? maps.file_of_node : maps.file_between_nodes) = file;
  log_line(LogLevel::info, "%s the saturation map %s",
           of_node ? "servers follow" : "transfers between nodes follow", file.c_str());
}

SaturationMaps read_maps() {
  SaturationMaps maps;
  std::istringstream files(options().saturation);
  for (std::string file; std::getline(files, file, ',');) {
    try {
      if (!file.empty()) read_map(file, maps);
    } catch (const Error& error) {
      // It lives until this process ends, because other ranks may read the file meanwhile.
      static const OnlyOne& speaker = *new OnlyOne("saturation");
      if (speaker.chosen())
        log_line(LogLevel::warning, "TUTTI_SATURATION: %s; until then no transfer follows it",
                 error.what());
    }
  }
  return maps;
}

// The policy by the map, which must exist. It takes some milliseconds to make, so each is kept.
const Policy& mapped_policy(const Crew& crew) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::tuple<int32_t, int32_t, int32_t>, Policy>;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.try_emplace({crew.domains, crew.clients, crew.servers});
  if (is_new) found->second = policy_of(*saturation_maps().node, crew);
  return found->second;
}

Policy policy_by_length(uint64_t least_bytes) {
  if (least_bytes == 0) return {};
  Policy policy;
  policy.puts = {{.most_bytes = least_bytes - 1, .least_waiting = UINT32_MAX}, {}};
  policy.gets = policy.puts;
  return policy;
}

}  // namespace

const SaturationMaps& saturation_maps() {
  static const SaturationMaps& maps = *new SaturationMaps(read_maps());
  return maps;
}

uint64_t least_bytes_of(tutti_serve serve, bool share, const Crew& crew) {
  // Handing a transfer over takes some cache lines' way between two cores, about the time in which
  // the caller copies so many bytes.
  constexpr uint64_t most_bytes_of_own = 4096;
  if (serve == TUTTI_SERVE_ALL) return 0;
  if (share) return UINT64_MAX;
  return !saturation_maps().node ? most_bytes_of_own + 1 : least_bytes_served(mapped_policy(crew));
}

Policy policy_for(uint64_t least_bytes, const Crew& crew) {
  if (least_bytes == UINT64_MAX) return {.serve = Serve::none};  // perhaps there are no servers
  Policy policy = !saturation_maps().node ? policy_by_length(least_bytes) : mapped_policy(crew);
  policy.serve = least_bytes == 0 ? Serve::all : Serve::selective;
  return policy;
}

}  // namespace tutti::api
