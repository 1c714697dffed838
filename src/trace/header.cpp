#include "trace/header.h"

#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/json.h"
#include "base/process.h"
#include "placement/cores.h"
#include "plan/collective.h"
#include "plan/step_kinds.h"

namespace tutti::trace {
namespace {

// The processing units of a mask as a text such as "0-3,8".
std::string binding_text(const placement::CoreMask& cores) {
  std::string text;
  for (size_t core = 0; core < placement::most_cores; ++core) {
    if (!cores[core]) continue;
    size_t last = core;
    while (last + 1 < placement::most_cores && cores[last + 1]) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(core);
    if (last > core) text += "-" + std::to_string(last);
    core = last;
  }
  return text;
}

// The numa region that contains all of these processing units; -1 if no region does, or if the
// system does not report regions.
int numa_region(const placement::CoreMask& cores) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/sys/devices/system/node", error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("node") || name.find_first_not_of("0123456789", 4) != std::string::npos)
      continue;
    std::ifstream list(entry.path() / "cpulist");
    placement::CoreMask region;
    unsigned first = 0, last = 0;
    while (list >> first) {
      last = first;
      if (list.peek() == '-') list.ignore() >> last;
      for (unsigned core = first; core <= last && core < placement::most_cores; ++core)
        region[core] = true;
      if (list.peek() == ',') list.ignore();
    }
    if (cores.any() && (cores & ~region).none()) return std::stoi(name.substr(4));
  }
  return -1;
}

template <class Properties>
Json describe_kind(const Properties& kind, std::string_view group) {
  return {{"number", static_cast<int>(kind.kind)},
          {"name", kind.name},
          {"group", group},
          {"operands", kind.operands},
          {"meaning", kind.meaning}};
}

// The kinds of a program's steps, and those that only traces have.
Json describe_kinds() {
  Json kinds = Json::array();
  for (const plan::StepKindProperties& kind : plan::step_kinds)
    kinds.push_back(describe_kind(kind, plan::name(kind.group)));
  for (const KindProperties& kind : kinds_beside_steps)
    kinds.push_back(describe_kind(kind, kind.group));
  return kinds;
}

Json describe_anchor(const Anchor& anchor) {
  return {{"ticks", anchor.ticks},
          {"nanoseconds", rounded(anchor.nanoseconds, 1)},
          {"error", rounded(anchor.error, 1)}};
}

Json describe_nodes(const std::vector<Node>& nodes) {
  Json descriptions = Json::array();
  for (const Node& node : nodes) {
    Json anchors = Json::array();
    for (const Anchor& anchor : node.anchors) anchors.push_back(describe_anchor(anchor));
    descriptions.push_back({{"leader", node.leader}, {"anchors", std::move(anchors)}});
  }
  return descriptions;
}

}  // namespace

std::string describe_rank(int rank, std::string_view clock, const placement::CoreMask& cores,
                          const Tracer& tracer) {
  Json communicators = Json::array();
  for (const Communicator& known : tracer.communicators()) {
    Json& description = communicators.emplace_back();
    description["identity"] = known.identity;
    description["ranks"] = nullptr;
    if (!known.ranks.empty()) description["ranks"] = known.ranks;
  }
  Json rings = Json::array();
  for (const Ring* ring : tracer.rings()) {
    const auto contents = ring->contents();
    rings.push_back({{"records", contents.size()}, {"lost", contents.lost}});
  }
  const Json description{{"rank", rank},
                         {"host", host_name()},
                         {"cores", binding_text(cores)},
                         {"numa", numa_region(cores)},
                         {"clock", clock},
                         {"communicators", std::move(communicators)},
                         {"rings", std::move(rings)}};
  return json_object_with(description, "programs", json_array(tracer.programs()));
}

std::string describe_job(const Job& job) {
  Json collectives = Json::array();
  for (int i = 0; i < plan::collective_count; ++i)
    collectives.push_back(plan::name(static_cast<plan::Collective>(i)));
  std::error_code error;
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe", error).filename().string();
  const Json description{{"format", "tutti-trace 2"},
                         {"program", program},
                         {"mpi", job.mpi},
                         {"filter", job.filter.substr(0, 4096)},
                         {"written", std::time(nullptr)},
                         {"collectives", std::move(collectives)},
                         {"reasons", job.reasons},
                         {"step_kinds", describe_kinds()},
                         {"nodes", describe_nodes(job.nodes)},
                         {"node_of", job.node_of}};
  return json_object_with(description, "ranks", json_array(job.ranks)) + "\n";
}

}  // namespace tutti::trace
