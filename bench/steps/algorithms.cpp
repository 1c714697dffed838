// tutti-algorithms: times collectives by chosen algorithms among bound threads, without any MPI.
//
// Usage: tutti-algorithms --cores 0,1 --sizes 8,4096 [--reach threads|mapped|slots]
//        [--repetitions N] [--steps 0,1]... [--shuffled] [--late RANK=MICROSECONDS]
//        COLLECTIVE[:ROOT]=ALGORITHM[@SEGMENT][^staged][/SIZES]...
//
// A thread for each entry of --cores is a rank. --reach: threads reach all buffers; so do processes
// with mapped memory, which cut long messages in another way; others use slots. SEGMENT: the bytes
// of a segment, as a rule asks for them; ^staged is a rule's `reach staged`. SIZES are an
// algorithm's own. Before each operation each rank rewrites its `in`; then all begin at one
// instant, but for one that is --late, and the time of the operation is that of the slowest rank
// from the last one's begin on, without that of the clock. In each repetition the cells are
// measured in a shuffled order, each many times; with --shuffled, each once, and so many times
// over. Writes JSON to stdout: for each cell the mean of the middle half of each repetition in
// microseconds, and the algorithm that served, which is another one if the chosen one cannot serve
// such a call; for each repetition the state of the cores, and whether they stayed in it
// (core_state.h). --steps: each repetition also measures the steps of programs on these cores
// (step_costs.h), because the costs of a virtual machine change from minute to minute.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "algo/algo.h"
#include "base/error.h"
#include "base/json.h"
#include "base/segments.h"
#include "group/group.h"
#include "select/table.h"
#include "shm/layout.h"
#include "steps/algorithm_words.h"
#include "steps/bound_threads.h"
#include "steps/core_state.h"
#include "steps/step_costs.h"

namespace {

using namespace tutti;
using bench::BoundThreads;
using bench::Memory;
using bench::memory_of;
using bench::Reach;
using bench::Wanted;
using bench::What;

// The ranks' groups for one algorithm, with shared memory of their own.
struct Team {
  Team(const Wanted& wanted, const What& what) {
    const auto ranks = static_cast<int>(wanted.cores.size());
    // Throws if there is no such algorithm.
    algo::generate(what.collective, what.algorithm, ranks, what.root);
    table = select::read_table(rule_of(what), "the algorithm asked for");
    const shm::Layout layout = shm::Layout::fit(ranks, shm::first_area(ranks, 0, false));
    areas = memory_of(layout.bytes());
    std::vector<std::vector<int>> bindings;
    for (const int core : wanted.cores) bindings.push_back({core});
    const placement::Levels levels = placement::levels_of_bound(bindings, "");
    for (int rank = 0; rank < ranks; ++rank) {
      group::Group::Settings settings;
      settings.areas = areas.get();
      settings.layout = layout;
      settings.rank = rank;
      settings.style =
          bench::share_cores(wanted.cores) ? exec::WaitStyle::yield : exec::WaitStyle::spin;
      settings.overrides.table = &table;
      if (wanted.reach != Reach::slots) {
        settings.reach.one_process = wanted.reach == Reach::threads;
        settings.reach.ordinary = true;
        settings.reach.own_bytes = SIZE_MAX;
        settings.reach.mapped.resize(static_cast<size_t>(ranks));
      }
      settings.levels = levels;
      groups.push_back(std::make_unique<group::Group>(settings));
    }
  }

  // A rule of its own: a variable that names an algorithm leaves the segments to the usual rules.
  static std::string rule_of(const What& what) {
    std::string rule = "tutti-map 1\n" + std::string(plan::name(what.collective)) +
                       " -> builtin:" + what.algorithm;
    if (what.segment == segment_halves)
      rule += " segment halves";
    else if (what.segment != 0)
      rule += " segment " + std::to_string(what.segment);
    if (what.reach != ReachChoice::automatic)
      rule += " reach " + std::string(select::reach_word(what.reach));
    return rule + "\n";
  }

  select::Table table;
  Memory areas;
  std::vector<std::unique_ptr<group::Group>> groups;  // indexed by rank
};

struct Cell {
  size_t team = 0;
  const What* what = nullptr;
  size_t bytes = 0;
  std::string served;
  std::vector<double> microseconds;  // indexed by repetition
};

struct Buffers {
  Memory in, out;
};

class Measurement {
 public:
  explicit Measurement(const Wanted& wanted)
      : wanted_(wanted), threads_(wanted.cores), state_(threads_), ends_(wanted.cores.size()) {
    size_t most = 0;
    for (const What& what : wanted.algorithms) {
      teams_.push_back(std::make_unique<Team>(wanted, what));
      for (const size_t bytes : what.sizes.empty() ? wanted.sizes : what.sizes) {
        const bool has_data = plan::has_data(what.collective);
        most = std::max(most, bytes);
        cells_.push_back({teams_.size() - 1, &what, has_data ? bytes : 0, {}, {}});
        if (!has_data) break;
      }
    }
    for (size_t rank = 0; rank < wanted.cores.size(); ++rank)
      buffers_.push_back({memory_of(most * wanted.cores.size()), {}});
    for (Buffers& buffers : buffers_) buffers.out = memory_of(most * wanted.cores.size());
    combine_.kernel = kernels::find_reduce(kernels::Type::float64, kernels::Op::sum);
    combine_.element = 8;
  }

  void run() {
    for (int repetition = -1; repetition < wanted_.repetitions; ++repetition) {  // -1: to warm up
      if (!threads_.run([&](int rank) { measure(rank, repetition); }))
        throw Error(Code::unavailable, "--cores: a thread could not be bound to its core");
      if (repetition >= 0) {
        const bench::CoreTimes state = state_.chosen();
        states_.push_back({rounded(state.hand_over, 2), rounded(state.rewriting, 2)});
        steady_.push_back(state_.is_steady());
      }
      Json steps = Json::array();
      for (const std::vector<int>& cores : wanted_.steps)
        steps.push_back(bench::step_costs(
            cores, is_of_first_ranks(cores) ? state_.chosen() : bench::CoreTimes{}));
      steps_.push_back(std::move(steps));
    }
  }

  Json as_json() const {
    Json json;
    json["format"] = "tutti-algorithms 1";
    json["cores"] = wanted_.cores;
    json["reach"] = bench::reach_names[static_cast<size_t>(wanted_.reach)];
    json["states"] = states_;
    json["steady"] = steady_;
    for (const Cell& cell : cells_) {
      Json one;
      one["collective"] = plan::name(cell.what->collective);
      one["root"] = cell.what->root;
      one["algorithm"] = cell.what->algorithm;
      one["segment"] = cell.what->segment;
      one["wanted_reach"] = select::reach_word(cell.what->reach);
      one["served"] = cell.served;
      one["bytes"] = cell.bytes;
      for (const double value : cell.microseconds) one["us"].push_back(rounded(value, 4));
      json["cells"].push_back(std::move(one));
    }
    if (!wanted_.steps.empty()) json["steps"] = steps_;
    return json;
  }

 private:
  void measure(int rank, int repetition) {
    state_.choose(rank);
    measure_clock(rank);
    if (wanted_.shuffled && repetition >= 0) {
      measure_shuffled(rank, repetition);
      return;
    }
    for (const size_t place : order_of(repetition)) measure(rank, cells_[place], repetition < 0);
  }

  // True if the first two of the cores are those on which the state is looked at.
  bool is_of_first_ranks(const std::vector<int>& cores) const {
    return cores.size() > 1 && wanted_.cores.size() > 1 &&
           std::equal(cores.begin(), cores.begin() + 2, wanted_.cores.begin());
  }

  // The same at all ranks.
  std::vector<size_t> order_of(int number) const {
    std::vector<size_t> order(cells_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), std::mt19937_64(static_cast<uint64_t>(number + 1)));
    return order;
  }

  // Each cell once a round, in another order each time.
  void measure_shuffled(int rank, int repetition) {
    constexpr int rounds = 25;
    std::vector<std::vector<double>> taken(cells_.size());
    for (int round = 0; round < rounds; ++round)
      state_.repeat(rank, [&] {
        for (const size_t place : order_of(repetition * rounds + round)) {
          taken[place].resize(static_cast<size_t>(round));  // without what is repeated
          taken[place].push_back(operate(rank, group_of(rank, cells_[place]), cells_[place]));
        }
      });
    if (rank != 0) return;
    for (size_t place = 0; place < cells_.size(); ++place) keep(cells_[place], taken[place]);
  }

  group::Group& group_of(int rank, const Cell& cell) {
    return *teams_[cell.team]->groups[static_cast<size_t>(rank)];
  }

  void keep(Cell& cell, std::vector<double>& taken) const {
    cell.microseconds.push_back(std::max(0.0, bench::middle_mean(taken) - empty_ - wanted_.late));
  }

  // The time of an operation that does nothing, which the others contain as well.
  void measure_clock(int rank) {
    constexpr int rounds = 301;
    std::vector<double> taken;
    for (int i = 0; i < rounds; ++i) taken.push_back(slowest_of(rank, 0, [] {}));
    const double empty = bench::middle_mean(taken);
    if (rank == 0) empty_ = empty;
    threads_.meet(rank);
  }

  // A few operations to warm the caches, then as many as take about two milliseconds.
  void measure(int rank, Cell& cell, bool warming) {
    group::Group& group = group_of(rank, cell);
    constexpr int to_warm = 4, least = 9, most = 101;
    constexpr double long_enough = 2000;  // microseconds
    std::vector<double> taken;
    state_.repeat(rank, [&] {
      taken.clear();
      double spent = 0;
      for (int i = 0; i < to_warm + most; ++i) {
        const double one = operate(rank, group, cell);
        if (warming && i >= to_warm) break;
        if (i < to_warm) continue;
        taken.push_back(one);
        spent += one;
        if (i + 1 >= to_warm + least && spent > long_enough) break;
      }
    });
    if (rank != 0) return;
    if (warming)
      cell.served = group.algorithm(cell.what->collective, cell.bytes, cell.what->root);
    else
      keep(cell, taken);
  }

  // With new data. Returns what slowest_of() does.
  double operate(int rank, group::Group& group, const Cell& cell) {
    Buffers& own = buffers_[static_cast<size_t>(rank)];
    const plan::Collective collective = cell.what->collective;
    const bool combines = plan::combines(collective);
    group::Call call;
    call.collective = collective;
    call.root = cell.what->root;
    const bool is_sender = plan::one_buffer(collective) && rank == call.root;
    call.in = own.in.get();
    call.out = is_sender ? own.in.get() : own.out.get();
    call.count = combines ? cell.bytes / combine_.element : cell.bytes;
    if (combines) call.combine = &combine_;
    const size_t parts = plan::parted_in(collective) ? wanted_.cores.size() : 1;
    auto* const values = reinterpret_cast<double*>(own.in.get());
    std::fill(values, values + cell.bytes * parts / sizeof(double), 1.5);
    const double slowest = slowest_of(rank, wanted_.late, [&] { return group.run(call); });
    if (!group.failure().empty()) throw Error(Code::internal, group.failure());
    return slowest;
  }

  // Returns the slowest rank's time in microseconds; all ranks get the same value. The late rank
  // begins `late` microseconds after the others.
  template <class Work>
  double slowest_of(int rank, double late, const Work& work) {
    const uint64_t start = threads_.meet(rank);
    if (late > 0 && rank == wanted_.late_rank)
      while (threads_.nanoseconds(threads_.now() - start) < late * 1000) continue;
    work();
    const uint64_t end = threads_.now();
    ends_[static_cast<size_t>(rank)].ticks = end - start;
    threads_.meet(rank);
    uint64_t slowest = 0;
    for (const End& one : ends_) slowest = std::max(slowest, one.ticks);
    threads_.meet(rank);
    return threads_.nanoseconds(slowest) / 1000;
  }

  struct alignas(128) End {
    uint64_t ticks = 0;
  };

  const Wanted& wanted_;
  BoundThreads threads_;
  bench::CoreState state_;
  exec::Combine combine_;
  std::vector<std::unique_ptr<Team>> teams_;
  std::vector<Cell> cells_;
  std::vector<Buffers> buffers_;
  std::vector<End> ends_;
  double empty_ = 0;
  // Indexed by repetition: the state of the cores, and whether they stayed in it.
  Json states_ = Json::array();
  std::vector<bool> steady_;
  // Before the first repetition and after each, by the entries of --steps.
  Json steps_ = Json::array();
};

}  // namespace

int main(int argc, char** argv) {
  try {
    const Wanted wanted = bench::read_words(argc, argv);
    Measurement measurement(wanted);
    measurement.run();
    std::puts(json_text(measurement.as_json(), 1).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-algorithms: %s\n", error.what());
    return 2;
  }
}
