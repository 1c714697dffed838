// The times of the machine's own operations of which collectives consist, among processes.
//
// Usage: tutti-threads limits     operations on one core and between two
//        tutti-threads matrix     how long a cache line takes between each two processing units
//
// A collective's latency means little by itself. Compared with the time in which a cache line goes
// from core to core it shows how much can be gained. A time that cannot be measured here is null.
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "rows.h"
#include "statistics.h"
#include "steps/bound_threads.h"
#include "steps/kinds.h"
#include "steps/pair.h"

namespace tutti::bench {
namespace {

// --- lines between two cores ---

// The median of batches of rounds: of the time of a round.
template <class Round>
void time_batches(Pair& pair, Round round) {
  constexpr int batches = 51, rounds = 500;
  std::vector<double> batch;
  unsigned turn = 0;
  for (int b = 0; b < batches; ++b) {
    pair.meet();
    const uint64_t began = pair.now();
    for (int i = 0; i < rounds; ++i) round(++turn);
    batch.push_back(pair.seconds_since(began) / rounds);
  }
  pair.set(median(batch));
}

void half_round_trip(Pair& pair) {
  time_batches(pair, [&](unsigned turn) {
    if (pair.self == 0) pair.mine.store(turn);
    while (pair.other.load() != turn) bench_pause();
    if (pair.self == 1) pair.mine.store(turn);
  });
  pair.set(pair.shared.result[pair.self] / 2);
}

// Both processes start at one instant. The time of an exchange is the larger of their times, as
// tutti-bench times a collective.
void flag_exchange(Pair& pair) {
  constexpr unsigned rounds = 4001;
  for (unsigned i = 0; i < rounds; ++i) {
    const uint64_t start = pair.meet();
    pair.mine.store(i + 1);
    while (pair.other.load() < i + 1) continue;
    pair.shared.ticks[pair.self][i] = pair.now() - start;
  }
  pair.meet();
  std::vector<double> larger;
  for (unsigned i = 0; i < rounds; ++i)
    larger.push_back(pair.seconds(std::max(pair.shared.ticks[0][i], pair.shared.ticks[1][i])));
  pair.set(median(larger));
}

// The same, with one exchange directly after another.
void flag_exchange_loop(Pair& pair) {
  time_batches(pair, [&](unsigned turn) {
    pair.mine.store(turn);
    while (pair.other.load() < turn) continue;
  });
}

// --- copies ---

double copy_time(const Pair& pair, size_t bytes) {
  constexpr double budget_seconds = 0.03;
  const Memory source = memory_of(bytes), destination = memory_of(bytes);
  std::memset(source.get(), 1, bytes);
  std::vector<double> batch;
  const size_t repeats = std::max<size_t>(1, 4194304 / bytes);
  const uint64_t began = pair.now();
  while (batch.size() < 64 && (batch.size() < 3 || pair.seconds_since(began) < budget_seconds)) {
    const uint64_t first = pair.now();
    for (size_t i = 0; i < repeats; ++i) {
      std::memcpy(destination.get(), source.get(), bytes);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      asm volatile("" ::"r"(destination.get()) : "memory");  // or the copies could become one
    }
    batch.push_back(pair.seconds_since(first) / static_cast<double>(repeats));
  }
  return median(batch);
}

void copy_on_both(Pair& pair, size_t bytes) {
  pair.meet();
  pair.set(copy_time(pair, bytes));
  pair.meet();  // neither process stops copying while the other still measures
}

// --- hand-overs to a sleeping process, on one core and on another ---

void futex_hand_over(Pair& pair) {
  constexpr unsigned rounds = 3000;
  Pair::Word& turn = pair.shared.word[0];
  const auto futex = [&](int operation, unsigned value) {
    syscall(SYS_futex, &turn.value, operation, value, nullptr, nullptr, 0);
  };
  pair.meet();
  const uint64_t began = pair.now();
  for (unsigned i = 0; i < rounds; ++i) {
    for (unsigned now; (now = turn.load()) % 2 != static_cast<unsigned>(pair.self);)
      futex(FUTEX_WAIT, now);
    turn.store(turn.load() + 1);
    futex(FUTEX_WAKE, 1);
  }
  pair.set(pair.seconds_since(began) / (2 * rounds));
}

// --- the rows ---

void add(const char* what, double seconds, size_t bytes = 0) {
  row_begin_call("limit", what, bytes);
  row_number("ns", seconds * 1e9);
  row_end();
}

// The times on two cores; NAN if there are not two.
class Limits {
 public:
  Limits() : cores_(pair_cores()) {
    if (cores_.empty()) throw Error(Code::unavailable, "no core to run on");
    one_core_[0] = one_core_[1] = cores_[0];
    void* const memory =
        mmap(nullptr, size_t{1} << 22, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Error(Code::unavailable, "no shared memory");
    shared_ = static_cast<std::byte*>(memory);
  }

  void measure() const {
    add_job();
    add("line_half_round_trip", of_two(half_round_trip));
    add("flag_exchange", of_two(flag_exchange));
    add("flag_exchange_loop", of_two(flag_exchange_loop));
    add("yield_hand_over", of(one_core_, yield_hand_over));
    add("futex_hand_over", of(one_core_, futex_hand_over));
    add("futex_hand_over_two_cores", of_two(futex_hand_over));
    measure_copies();
    constexpr size_t fetches[] = {4096, 32768, 131072, 524288, 1048576, 2097152, 4194304},
                     by_system[] = {8, 4096, 65536, 1048576, 16777216};
    for (const size_t bytes : fetches) add_fetch("copy_rewritten", bytes, Fetch::shared);
    for (const size_t bytes : fetches) add_fetch("add_rewritten", bytes, Fetch::sum);
    for (const size_t bytes : fetches) add_fetch("copy_own_rewritten", bytes, Fetch::own);
    for (const size_t bytes : by_system) add_fetch("cma_rewritten", bytes, Fetch::system);
  }

 private:
  static double of(const int cores[2], const Pair::Body& body) {
    const auto results = Pair::run(cores, body);
    return results ? (*results)[0] : NAN;
  }
  double of_two(const Pair::Body& body) const {
    return cores_.size() < 2 ? NAN : of(cores_.data(), body);
  }

  void add_job() const {
    const int both[2] = {cores_.front(), cores_.back()};
    row_begin("job");
    row_integers("cores", both, 2);
    row_text("clock", bench_clock_open().counter ? "tsc" : "monotonic");
    row_end();
  }

  void measure_copies() const {
    constexpr size_t copies[] = {32768, 1048576, 16777216};
    for (const size_t bytes : copies)
      add("copy_one_core",
          of(one_core_,
             [bytes](Pair& pair) {
               if (pair.self == 0) pair.set(copy_time(pair, bytes));
             }),
          bytes);
    for (const size_t bytes : copies) {  // the time in which both together do what each does alone
      const auto body = [bytes](Pair& pair) { copy_on_both(pair, bytes); };
      const auto times = cores_.size() < 2 ? std::nullopt : Pair::run(cores_.data(), body);
      add("copy_two_cores", times ? 1 / (1 / (*times)[0] + 1 / (*times)[1]) : NAN, bytes);
    }
  }

  void add_fetch(const char* what, size_t bytes, Fetch how) const {
    add(what, of_two([&](Pair& pair) { fetch(pair, shared_, bytes, how); }), bytes);
  }

  std::vector<int> cores_;
  int one_core_[2];
  std::byte* shared_;  // process 1 rewrites it
};

void measure_limits(int argc, char**) {
  if (argc != 1) throw Error(Code::invalid_argument, "limits takes no options");
  Limits().measure();
}

const Kind limits("limits", measure_limits);

void measure_matrix(int argc, char**) {
  if (argc != 1) throw Error(Code::invalid_argument, "matrix takes no options");
  const std::vector<int> units = usable_cores();
  for (size_t one = 0; one < units.size(); ++one)
    for (size_t other = one + 1; other < units.size(); ++other) {
      const int both[2] = {units[one], units[other]};
      const auto times = Pair::run(both, half_round_trip);
      row_begin_call("matrix", "line_half_round_trip", 0);
      row_integers("units", both, 2);
      row_number("ns", times ? (*times)[0] * 1e9 : NAN);
      row_end();
    }
}

const Kind matrix("matrix", measure_matrix);

}  // namespace

}  // namespace tutti::bench
