// The time and memory that one rank needs to make its program, for every collective by the built-in
// table's algorithm, on a cluster of any size. There is no MPI and there are no other ranks,
// because each rank of a communicator makes its program by itself.
//
// Usage: tutti-lowering [--candidates] NODES CORES [COLLECTIVE...]
//        tutti-lowering --kept CORES NODES...
//
// --candidates takes every built-in algorithm and its variants, and not only those of the table.
// The second form compares the memory that a rank keeps on clusters of several sizes (kept.h). It
// includes a program of each collective, except those with a part for every rank, whose programs
// necessarily grow with the number of ranks.
//
// Adds rows (rows.h). Times are medians of several rounds. Memory is the most that became resident
// at one time, and the amount that the allocator keeps.
#include <exception>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algo/algo.h"
#include "base/error.h"
#include "base/large_vector.h"
#include "kept.h"
#include "memory.h"
#include "plan/lower.h"
#include "rows.h"
#include "select/select.h"
#include "steps/kinds.h"

namespace {

using namespace tutti;
using bench::held_bytes;
using Clock = std::chrono::steady_clock;

constexpr int rounds = 5;
constexpr size_t bytes_of_call =
    1024;  // bytes of the vector or of one part, for the look-up in the table

struct Phases {  // nanoseconds
  double generate = 0, stage = 0, lower = 0;
  double total() const { return generate + stage + lower; }
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
    return std::chrono::duration<double, std::nano>(now - std::exchange(last_, now)).count();
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
  plan::Written written =
      algo::written(collective, result.algorithm, cluster.ranks, 0, cluster.levels);
  const auto* const symmetric = std::get_if<plan::Symmetric>(&written);
  result.transfers = plan::plan_in(written).transfers.size();
  if (symmetric != nullptr) result.transfers *= symmetric->order.size();
  phases.generate = timer.lap();
  const plan::Written staged = plan::stage_for_one(std::move(written), cluster.nodes);
  phases.stage = timer.lap();
  const plan::Carrier carrier =
      plan::lines_serve(staged) ? plan::Carrier::line : plan::Carrier::slot;
  const size_t without = held_bytes();
  const plan::Program program = plan::program_of(staged, rank, carrier);
  phases.lower = timer.lap();
  result.staged = static_cast<size_t>(program.transfers);
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

void add_row(const Result& one) {
  row_begin_call("lowering", one.collective.c_str(), 0);
  row_text("algorithm", one.algorithm.c_str());
  row_integer("transfers", static_cast<int64_t>(one.transfers));
  row_integer("staged", static_cast<int64_t>(one.staged));
  row_number("ns", one.median.total());
  row_number("generate_ns", one.median.generate);
  row_number("stage_ns", one.median.stage);
  row_number("lower_ns", one.median.lower);
  row_integer("most_bytes", static_cast<int64_t>(one.most_bytes));
  row_integer("steps", static_cast<int64_t>(one.steps));
  row_integer("program_bytes", static_cast<int64_t>(one.program_bytes));
  row_end();
}

void add_kept(int nodes, int cores, bench::Dealing dealing, const bench::Kept& kept) {
  row_begin_call("kept", std::string(name(dealing)).c_str(), kept.all());
  row_integer("ranks", nodes * cores);
  row_integer("nodes", nodes);
  row_integer("world_bytes", static_cast<int64_t>(kept.world));
  row_integer("communicator_bytes", static_cast<int64_t>(kept.communicator));
  row_integer("programs_bytes", static_cast<int64_t>(kept.programs));
  row_integer("most_bytes", static_cast<int64_t>(kept.most));
  row_end();
}

int number(const char* text, const char* what, int least = 1) {
  return bench::number_of(what, text, least, 65536);
}

void hold_ranks(int nodes, int cores) {
  if (int64_t{nodes} * cores > 65536)
    throw Error(Code::invalid_argument, "NODES x CORES: more than 65536 ranks; give fewer");
}

void run_kept(int argc, char** argv) {
  using C = plan::Collective;
  const std::vector<C> collectives{C::barrier, C::bcast, C::reduce, C::allreduce};
  if (argc < 4) throw Error(Code::invalid_argument, "usage: tutti-lowering --kept CORES NODES...");
  const int cores = number(argv[2], "CORES");
  bench::kept(2, cores, bench::Dealing::blocks, collectives);  // makes what is made only once
  for (const bench::Dealing dealing : {bench::Dealing::blocks, bench::Dealing::cyclic})
    for (int i = 3; i < argc; ++i) {
      const int nodes = number(argv[i], "NODES", 2);
      hold_ranks(nodes, cores);
      add_kept(nodes, cores, dealing, bench::kept(nodes, cores, dealing, collectives));
    }
}

void run(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--kept") return run_kept(argc, argv);
  const bool every = argc > 1 && std::string_view(argv[1]) == "--candidates";
  const int first = every ? 2 : 1;
  if (argc < first + 2)
    throw Error(Code::invalid_argument,
                "usage: tutti-lowering [--candidates] NODES CORES [COLLECTIVE...]");
  const int nodes = number(argv[first], "NODES"), cores = number(argv[first + 1], "CORES");
  hold_ranks(nodes, cores);
  std::vector<plan::Collective> collectives;
  for (int i = first + 2; i < argc; ++i) collectives.push_back(plan::collective_named(argv[i]));
  for (int i = 0; i < plan::collective_count && argc == first + 2; ++i)
    collectives.push_back(static_cast<plan::Collective>(i));
  const Cluster cluster(nodes, cores);
  row_begin("job");
  row_integer("ranks", cluster.ranks);
  row_integer("nodes_bytes", static_cast<int64_t>(cluster.nodes_bytes));
  row_integer("levels_bytes", static_cast<int64_t>(cluster.levels_bytes));
  row_end();
  for (const plan::Collective collective : collectives) {
    const std::vector<std::string> algorithms =
        every ? candidates(collective) : std::vector{by_table(collective, cluster, nodes)};
    for (const std::string& algorithm : algorithms)
      add_row(measured(collective, algorithm, cluster, cores));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
    rows_write();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-lowering: %s\n", error.what());
    return 1;
  }
}
