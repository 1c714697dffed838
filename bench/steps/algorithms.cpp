// Times of collectives by chosen algorithms among bound threads.
//
// Usage: tutti-threads algorithms --cores 0,1 --bytes 8,4096 [--reach threads|mapped|slots]
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
// over. There is a row for each cell and repetition, with the mean of the middle half, and the
// algorithm that served, which is another one if the chosen one cannot serve such a call; and one
// for each repetition with the state of the cores, and whether they stayed in it (core_state.h).
// --steps: before the first repetition and after each, the steps of programs are measured on these
// cores (step_costs.h), because the costs of a virtual machine change from minute to minute.
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "algo/algo.h"
#include "base/segments.h"
#include "group/group.h"
#include "rows.h"
#include "select/table.h"
#include "shm/layout.h"
#include "steps/algorithm_words.h"
#include "steps/bound_threads.h"
#include "steps/core_state.h"
#include "steps/kinds.h"
#include "steps/step_costs.h"

namespace tutti::bench {
namespace {

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
      settings.style = share_cores(wanted.cores) ? exec::WaitStyle::yield : exec::WaitStyle::spin;
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
};

struct Buffers {
  Memory in, out;
};

class Measurement {
 public:
  explicit Measurement(const Wanted& wanted)
      : wanted_(wanted), threads_(wanted.cores), state_(threads_) {
    size_t most = 0;
    for (const What& what : wanted.algorithms) {
      teams_.push_back(std::make_unique<Team>(wanted, what));
      for (const size_t bytes : what.sizes.empty() ? wanted.sizes : what.sizes) {
        const bool has_data = plan::has_data(what.collective);
        most = std::max(most, bytes);
        cells_.push_back({teams_.size() - 1, &what, has_data ? bytes : 0, {}});
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
    add_job();
    for (int repetition = -1; repetition < wanted_.repetitions; ++repetition) {  // -1: to warm up
      if (!threads_.run([&](int rank) { measure(rank, repetition); }))
        throw Error(Code::unavailable, "--cores: a thread could not be bound to its core");
      if (repetition >= 0) add_state(repetition);
      for (size_t unit = 0; unit < wanted_.steps.size(); ++unit) {
        const std::vector<int>& cores = wanted_.steps[unit];
        add_step_costs(cores, {.repetition = repetition + 1, .unit = static_cast<int>(unit)},
                       is_of_first_ranks(cores) ? state_.chosen() : CoreTimes{});
      }
    }
  }

 private:
  void add_job() const {
    row_begin("job");
    row_integers("cores", wanted_.cores.data(), threads_.count());
    row_text("reach", reach_names[static_cast<size_t>(wanted_.reach)]);
    row_end();
  }

  void add_state(int repetition) const {
    row_begin("state");
    row_integer("repetition", repetition);
    row_number("hand_over_ns", state_.chosen().hand_over);
    row_number("rewriting_ns", state_.chosen().rewriting);
    row_flag("steady", state_.is_steady());
    row_end();
  }

  void measure(int rank, int repetition) {
    state_.choose(rank);
    measure_clock(rank);
    if (wanted_.shuffled && repetition >= 0) {
      measure_shuffled(rank, repetition);
      return;
    }
    for (const size_t place : order_of(repetition)) measure(rank, cells_[place], repetition);
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
    for (size_t place = 0; place < cells_.size(); ++place)
      keep(cells_[place], repetition, taken[place]);
  }

  group::Group& group_of(int rank, const Cell& cell) {
    return *teams_[cell.team]->groups[static_cast<size_t>(rank)];
  }

  void keep(const Cell& cell, int repetition, std::vector<double>& taken) const {
    const double microseconds = std::max(0.0, middle_mean(taken) - empty_ - wanted_.late);
    row_begin_call("algorithm", std::string(plan::name(cell.what->collective)).c_str(), cell.bytes);
    row_integer("root", cell.what->root);
    row_text("algorithm", cell.what->algorithm.c_str());
    row_integer("segment", static_cast<int64_t>(cell.what->segment));
    row_text("wanted_reach", std::string(select::reach_word(cell.what->reach)).c_str());
    row_text("served", cell.served.c_str());
    row_integer("repetition", repetition);
    row_number("ns", 1000 * microseconds);
    row_end();
  }

  // The time of an operation that does nothing, which the others contain as well.
  void measure_clock(int rank) {
    constexpr int rounds = 301;
    std::vector<double> taken;
    for (int i = 0; i < rounds; ++i) taken.push_back(slowest_of(rank, 0, [] {}));
    const double empty = middle_mean(taken);
    if (rank == 0) empty_ = empty;
    threads_.meet(rank);
  }

  // A few operations to warm the caches, then as many as take about two milliseconds.
  void measure(int rank, Cell& cell, int repetition) {
    group::Group& group = group_of(rank, cell);
    constexpr int to_warm = 4, least = 9, most = 101;
    constexpr double long_enough = 2000;  // microseconds
    std::vector<double> taken;
    state_.repeat(rank, [&] {
      taken.clear();
      double spent = 0;
      for (int i = 0; i < to_warm + most; ++i) {
        const double one = operate(rank, group, cell);
        if (repetition < 0 && i >= to_warm) break;
        if (i < to_warm) continue;
        taken.push_back(one);
        spent += one;
        if (i + 1 >= to_warm + least && spent > long_enough) break;
      }
    });
    if (rank != 0) return;
    if (repetition < 0)
      cell.served = group.algorithm(cell.what->collective, cell.bytes, cell.what->root);
    else
      keep(cell, repetition, taken);
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
    const auto delayed = [&] {
      const uint64_t start = threads_.now();
      if (late > 0 && rank == wanted_.late_rank)
        while (threads_.nanoseconds(threads_.now() - start) < late * 1000) continue;
      work();
    };
    return threads_.slowest(rank, threads_.count(), delayed) / 1000;
  }

  const Wanted& wanted_;
  BoundThreads threads_;
  CoreState state_;
  exec::Combine combine_;
  std::vector<std::unique_ptr<Team>> teams_;
  std::vector<Cell> cells_;
  std::vector<Buffers> buffers_;
  double empty_ = 0;
};

void measure_algorithms(int argc, char** argv) {
  const Wanted wanted = read_words(argc, argv);
  Measurement(wanted).run();
}

const Kind kind("algorithms", measure_algorithms);

}  // namespace

}  // namespace tutti::bench
