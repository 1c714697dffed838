// The time and memory that one rank needs to make its program, for every collective by the built-in
// table's algorithm, on a cluster of any size. There is no MPI and there are no other ranks,
// because each rank of a communicator makes its program by itself.
//
// Usage: tutti-lowering [--json] NODES CORES [COLLECTIVE...]
//        tutti-lowering --candidates [--json] NODES CORES [COLLECTIVE...]
//        tutti-lowering --kept [--json] CORES NODES...
//
// The second form takes every built-in algorithm and its variants, and not only those of the table.
// The third form compares the memory that a rank keeps on clusters of several sizes (kept.h). It
// includes a program of each collective, except those with a part for every rank, whose programs
// necessarily grow with the number of ranks.
//
// Times are medians of several rounds. Memory is the most that became resident at one time, and the
// amount that the allocator keeps.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algo/algo.h"
#include "base/error.h"
#include "base/json.h"
#include "base/large_vector.h"
#include "kept.h"
#include "memory.h"
#include "plan/lower.h"
#include "select/select.h"

namespace {

using namespace tutti;
using bench::held_bytes;
using Clock = std::chrono::steady_clock;

constexpr int rounds = 5;
constexpr size_t bytes_of_call =
    1024;  // bytes of the vector or of one part, for the look-up in the table

struct Phases {
  enum Phase { generate, stage, lower, count };
  double milliseconds[count] = {};
  double total() const {
    return milliseconds[generate] + milliseconds[stage] + milliseconds[lower];
  }
};

struct Result {
  std::string collective, algorithm;
  size_t transfers = 0, staged = 0, steps = 0, most_bytes = 0, program_bytes = 0;
  Phases median = {};
};

// The memory that a rank keeps for where a communicator's ranks are. A single node has two sockets,
// and caches that eight cores share.
struct Cluster {
  Cluster(int node_count, int cores) : ranks(node_count * cores) {
    const auto groups_of = [&](int size) {
      std::vector<int32_t> of(static_cast<size_t>(ranks));
      for (int rank = 0; rank < ranks; ++rank) of[static_cast<size_t>(rank)] = rank / size;
      return of;
    };
    std::vector<placement::SharedLevel> shared{{"node", groups_of(cores)}};
    if (node_count == 1 && cores % 16 == 0 && cores > 16)
      shared = {{"socket", groups_of(cores / 2)}, {"cache", groups_of(8)}};
    const size_t before = held_bytes();
    nodes = placement::Nodes(groups_of(cores));
    nodes_bytes = held_bytes() - before;
    levels = placement::Levels(std::move(shared));
    levels_bytes = held_bytes() - before - nodes_bytes;
  }
  int ranks;
  placement::Nodes nodes;
  placement::Levels levels;
  size_t nodes_bytes = 0, levels_bytes = 0;
};

class Timer {
 public:
  double lap() {
    const auto now = Clock::now();
    return std::chrono::duration<double, std::milli>(now - std::exchange(last_, now)).count();
  }

 private:
  Clock::time_point last_ = Clock::now();
};

// Measures a rank in the middle that leads its node, because leaders have more to do than others.
Phases one_round(plan::Collective collective, const Cluster& cluster, int rank, Result& result) {
  Phases phases;
  bench::begin_most();
  Timer timer;
  const LargePieces::Work work;
  plan::Plan plan = algo::generate(collective, result.algorithm, cluster.ranks, 0, cluster.levels);
  result.transfers = plan.transfers.size();
  phases.milliseconds[Phases::generate] = timer.lap();
  const plan::Plan staged = plan::stage(std::move(plan), cluster.nodes);
  phases.milliseconds[Phases::stage] = timer.lap();
  const plan::Carrier carrier =
      plan::lines_serve(staged) ? plan::Carrier::line : plan::Carrier::slot;
  const size_t without = held_bytes();
  const plan::Program program = plan::program_of(staged, rank, carrier);
  phases.milliseconds[Phases::lower] = timer.lap();
  result.staged = staged.transfers.size();
  result.steps = program.steps.size();
  result.program_bytes = held_bytes() - without;
  result.most_bytes = bench::most_more_bytes();
  return phases;
}

// Names the algorithm that serves a call by the built-in table.
std::string by_table(plan::Collective collective, const Cluster& cluster, int32_t node_count) {
  select::Call call{.collective = collective,
                    .bytes = bytes_of_call,
                    .ranks = cluster.ranks,
                    .shape = {},
                    .root = 0};
  call.levels = &cluster.levels;
  call.nodes = node_count;
  return std::string(select::choose(call, {}).algorithm);
}

// All that a rule could name.
std::vector<std::string> candidates(plan::Collective collective) {
  std::vector<std::string> specs;
  for (const algo::Algorithm& algorithm : algo::algorithms()) {
    const auto& served = algorithm.collectives;
    if (std::find(served.begin(), served.end(), collective) == served.end()) continue;
    specs.emplace_back(algorithm.name);
    specs.insert(specs.end(), algorithm.variants.begin(), algorithm.variants.end());
  }
  return specs;
}

Result measured(plan::Collective collective, const std::string& algorithm, const Cluster& cluster,
                int cores) {
  const int32_t node_count = cluster.ranks / cores;
  Result result{.collective = std::string(plan::name(collective)), .algorithm = algorithm};
  std::vector<Phases> all;
  for (int round = 0; round < rounds; ++round)
    all.push_back(one_round(collective, cluster, node_count / 2 * cores, result));
  std::sort(all.begin(), all.end(),
            [](const Phases& one, const Phases& other) { return one.total() < other.total(); });
  result.median = all[rounds / 2];
  return result;
}

void print_line(const Result& one) {
  const double* const ms = one.median.milliseconds;
  std::printf("%-14s %-32s %9zu %9zu %8.2f %8.2f %8.2f %8.2f %9.1f %6zu %9zu\n",
              one.collective.c_str(), one.algorithm.c_str(), one.transfers, one.staged,
              ms[Phases::generate], ms[Phases::stage], ms[Phases::lower], one.median.total(),
              static_cast<double>(one.most_bytes) / (1 << 20), one.steps, one.program_bytes);
}

void print_json(const Cluster& cluster, const std::vector<Result>& results) {
  Json collectives = Json::array();
  for (const Result& one : results) {
    const double* const ms = one.median.milliseconds;
    collectives.push_back({{"collective", one.collective},
                           {"algorithm", one.algorithm},
                           {"transfers", one.transfers},
                           {"staged", one.staged},
                           {"generate_ms", rounded(ms[Phases::generate], 3)},
                           {"stage_ms", rounded(ms[Phases::stage], 3)},
                           {"lower_ms", rounded(ms[Phases::lower], 3)},
                           {"total_ms", rounded(one.median.total(), 3)},
                           {"most_bytes", one.most_bytes},
                           {"steps", one.steps},
                           {"program_bytes", one.program_bytes}});
  }
  const Json document{{"format", "tutti-lowering 1"},
                      {"ranks", cluster.ranks},
                      {"nodes_bytes", cluster.nodes_bytes},
                      {"levels_bytes", cluster.levels_bytes},
                      {"collectives", std::move(collectives)}};
  std::printf("%s\n", json_text(document, 1).c_str());
}

// Prints a line for each size and placement.
struct KeptLine {
  int nodes = 0, cores = 0;
  bench::Dealing dealing = bench::Dealing::blocks;
  bench::Kept bytes;
};

void print_kept_json(const std::vector<KeptLine>& lines) {
  Json clusters = Json::array();
  for (const KeptLine& line : lines)
    clusters.push_back({{"ranks", line.nodes * line.cores},
                        {"nodes", line.nodes},
                        {"placement", name(line.dealing)},
                        {"world_bytes", line.bytes.world},
                        {"communicator_bytes", line.bytes.communicator},
                        {"programs_bytes", line.bytes.programs},
                        {"kept_bytes", line.bytes.all()},
                        {"most_bytes", line.bytes.most}});
  const Json document{{"format", "tutti-kept 1"}, {"clusters", std::move(clusters)}};
  std::printf("%s\n", json_text(document, 1).c_str());
}

void compare_kept(int cores, const std::vector<int>& sizes, bool json) {
  using C = plan::Collective;
  const std::vector<C> collectives{C::barrier, C::bcast, C::reduce, C::allreduce};
  bench::kept(2, cores, bench::Dealing::blocks, collectives);  // makes what is made only once
  std::vector<KeptLine> lines;
  if (!json)
    std::printf("%6s %6s %-9s %7s %12s %8s %8s %9s\n", "ranks", "nodes", "placement", "world",
                "communicator", "programs", "kept", "most MiB");
  for (const bench::Dealing dealing : {bench::Dealing::blocks, bench::Dealing::cyclic}) {
    for (const int nodes : sizes) {
      const bench::Kept bytes = bench::kept(nodes, cores, dealing, collectives);
      lines.push_back({nodes, cores, dealing, bytes});
      if (json) continue;
      std::printf("%6d %6d %-9s %7zu %12zu %8zu %8zu %9.1f\n", nodes * cores, nodes,
                  std::string(name(dealing)).c_str(), bytes.world, bytes.communicator,
                  bytes.programs, bytes.all(), static_cast<double>(bytes.most) / (1 << 20));
    }
  }
  if (json) print_kept_json(lines);
}

int number(const char* text, const char* what) {
  int value = 0;
  const char* const end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, value);
  if (read.ec == std::errc() && read.ptr == end && value >= 1 && value <= 65536) return value;
  throw Error(Code::invalid_argument,
              std::string(what) + ": '" + text + "' is not a number from 1 to 65536");
}

plan::Collective collective_of(std::string_view word) {
  std::string known;
  for (int i = 0; i < plan::collective_count; ++i) {
    const auto collective = static_cast<plan::Collective>(i);
    if (plan::name(collective) == word) return collective;
    known.append(known.empty() ? "" : ", ").append(plan::name(collective));
  }
  throw Error(Code::invalid_argument,
              "unknown collective '" + std::string(word) + "'; known are " + known);
}

void hold_ranks(int nodes, int cores) {
  if (int64_t{nodes} * cores > 65536)
    throw Error(Code::invalid_argument, "NODES x CORES: more than 65536 ranks; give fewer");
}

void run_kept(int argc, char** argv) {
  const bool json = argc > 2 && std::string_view(argv[2]) == "--json";
  const int first = json ? 3 : 2;
  if (argc < first + 2)
    throw Error(Code::invalid_argument, "usage: tutti-lowering --kept [--json] CORES NODES...");
  const int cores = number(argv[first], "CORES");
  std::vector<int> sizes;
  for (int i = first + 1; i < argc; ++i) {
    sizes.push_back(number(argv[i], "NODES"));
    if (sizes.back() < 2) throw Error(Code::invalid_argument, "NODES: give 2 or more");
    hold_ranks(sizes.back(), cores);
  }
  compare_kept(cores, sizes, json);
}

void run(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--kept") return run_kept(argc, argv);
  const bool every = argc > 1 && std::string_view(argv[1]) == "--candidates";
  const int options = every ? 2 : 1;
  const bool json = argc > options && std::string_view(argv[options]) == "--json";
  const int first = json ? options + 1 : options;
  if (argc < first + 2)
    throw Error(Code::invalid_argument,
                "usage: tutti-lowering [--candidates] [--json] NODES CORES [COLLECTIVE...]");
  const int nodes = number(argv[first], "NODES"), cores = number(argv[first + 1], "CORES");
  hold_ranks(nodes, cores);
  std::vector<plan::Collective> collectives;
  for (int i = first + 2; i < argc; ++i) collectives.push_back(collective_of(argv[i]));
  for (int i = 0; i < plan::collective_count && argc == first + 2; ++i)
    collectives.push_back(static_cast<plan::Collective>(i));
  const Cluster cluster(nodes, cores);
  if (!json) {
    std::printf("%d ranks on %d nodes; each rank keeps %zu bytes for nodes and %zu for levels\n",
                cluster.ranks, nodes, cluster.nodes_bytes, cluster.levels_bytes);
    std::printf("%-14s %-32s %9s %9s %8s %8s %8s %8s %9s %6s %9s\n", "collective", "algorithm",
                "transfers", "staged", "generate", "stage", "lower", "total ms", "most MiB",
                "steps", "bytes");
  }
  std::vector<Result> results;
  for (const plan::Collective collective : collectives) {
    for (const std::string& algorithm :
         every ? candidates(collective)
               : std::vector<std::string>{by_table(collective, cluster, nodes)}) {
      results.push_back(measured(collective, algorithm, cluster, cores));
      if (!json) print_line(results.back());
      std::fflush(stdout);
    }
  }
  if (json) print_json(cluster, results);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-lowering: %s\n", error.what());
    return 1;
  }
}
