#include "mpi/report/trace_header.h"

#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/json.h"
#include "base/process.h"
#include "mpi/report/reason.h"
#include "placement/cores.h"
#include "plan/collective.h"
#include "plan/step_kinds.h"

namespace tutti::mpi {
namespace {

// "0-3,8": the processors that this process may run on.
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

// The numa region that holds all of these processors; -1 where several do, or the system does not
// tell.
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
  for (const trace::KindProperties& kind : trace::kinds_beside_steps)
    kinds.push_back(describe_kind(kind, kind.group));
  return kinds;
}

Json describe_anchor(const Clocks::Anchor& anchor) {
  return {{"ticks", anchor.ticks},
          {"nanoseconds", rounded(anchor.nanoseconds, 1)},
          {"error", rounded(anchor.error, 1)}};
}

Json describe_nodes(const Clocks& clocks) {
  Json nodes = Json::array();
  for (size_t node = 0; node < clocks.leaders().size(); ++node) {
    const int number = static_cast<int>(node);
    Json anchors = Json::array();
    for (const int reading : {0, 1})
      anchors.push_back(describe_anchor(clocks.anchor(number, reading)));
    nodes.push_back({{"leader", clocks.leaders()[node]}, {"anchors", std::move(anchors)}});
  }
  return nodes;
}

}  // namespace

std::string describe_rank(int rank, std::string_view clock, const trace::Tracer& tracer) {
  const placement::CoreMask cores = placement::usable_cores();
  Json communicators = Json::array();
  for (const trace::Communicator& known : tracer.communicators()) {
    Json& description = communicators.emplace_back();
    description["identity"] = known.identity;
    description["ranks"] = nullptr;
    if (!known.ranks.empty()) description["ranks"] = known.ranks;
  }
  Json rings = Json::array();
  for (const trace::Ring* ring : tracer.rings()) {
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

std::string describe_job(const std::vector<std::string>& ranks, const Clocks& clocks) {
  Json collectives = Json::array(), reasons = Json::array(), node_of = Json::array();
  for (int i = 0; i < plan::collective_count; ++i)
    collectives.push_back(plan::name(static_cast<plan::Collective>(i)));
  for (int i = 0; i < static_cast<int>(Reason::count_); ++i)
    reasons.push_back(describe(static_cast<Reason>(i)));
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    node_of.push_back(clocks.node_of(static_cast<int>(rank)));
  std::error_code error;
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe", error).filename().string();
  const Json job{{"format", "tutti-trace 2"},
                 {"program", program},
                 {"mpi", abi_name},
                 {"written", std::time(nullptr)},
                 {"collectives", std::move(collectives)},
                 {"reasons", std::move(reasons)},
                 {"step_kinds", describe_kinds()},
                 {"nodes", describe_nodes(clocks)},
                 {"node_of", std::move(node_of)}};
  return json_object_with(job, "ranks", json_array(ranks)) + "\n";
}

}  // namespace tutti::mpi
