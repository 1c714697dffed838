// The time of the reduction of a shared array among bound threads, beside what programs
// do without it.
//
// Usage: tutti-threads array --cores A,B,... --repetitions N
//
// There is a rank on each core, with 2,048 and with 131,072 doubles, as in NUMACol's measurements
// ("Scalable PGAS collectives", section 4.2.2). For each repetition and number of elements there is
// a row of each call:
//   loop         the sum of a rank's part by a plain loop, as the compiler makes it
//   fold         by tutti_fold
//   one_element  tutti_reduce of one element of each rank
//   array        tutti_reduce_array
//   plain        the loop and tutti_reduce of one element
//   vectors      tutti_reduce of the ranks' parts as vectors, and the loop over the result
// All but the first two are from the instant at which all ranks begin until the root has the
// result.
#include <cmath>
#include <vector>

#include "rows.h"
#include "steps/bound_threads.h"
#include "steps/kinds.h"
#include "steps/teams.h"

namespace tutti::bench {
namespace {

constexpr size_t lengths[] = {2048, 131072};
constexpr int root = 0;

[[gnu::noinline]] double loop(const double* elements, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += elements[i];
  return sum;
}

struct Rank {
  tutti_group* group;
  std::vector<double> part, out;
};

double fold(const Rank& rank) {
  double sum = 0;
  require_ok(tutti_fold(rank.part.data(), rank.part.size(), TUTTI_FLOAT64, TUTTI_SUM, &sum));
  return sum;
}
double one_element(const Rank& rank, double mine) {
  double sum = 0;
  require_ok(tutti_reduce(rank.group, &mine, &sum, 1, TUTTI_FLOAT64, TUTTI_SUM, root));
  return sum;
}
double array(const Rank& rank) {
  double sum = 0;
  require_ok(tutti_reduce_array(rank.group, rank.part.data(), rank.part.size(), 0, TUTTI_FLOAT64,
                                TUTTI_SUM, root, &sum));
  return sum;
}
double vectors(Rank& rank) {
  require_ok(tutti_reduce(rank.group, rank.part.data(), rank.out.data(), rank.part.size(),
                          TUTTI_FLOAT64, TUTTI_SUM, root));
  return tutti_group_rank(rank.group) == root ? loop(rank.out.data(), rank.out.size()) : 0;
}

// The middle mean of `samples` times of `operation`. The result, at the root, is checked.
template <class Operation>
double time_of(BoundThreads& threads, int me, int samples, double expected, Operation operation) {
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) {
    const uint64_t begin = threads.meet(me);
    const double result = operation();
    times.push_back(threads.nanoseconds(threads.now() - begin));
    if (me == root && std::abs(result - expected) > 1e-9 * std::abs(expected))
      throw Error(Code::internal, "a reduction gave a wrong sum");
  }
  return middle_mean(times);
}

// Rows of one length, at the root.
void measure_length(BoundThreads& threads, int me, Rank& rank, size_t length, int repetition) {
  const int samples = length > 10'000 ? 100 : 1000;
  rank.part.assign(length, 0);
  rank.out.assign(length, 0);
  for (size_t i = 0; i < length; ++i) rank.part[i] = 1.0 / static_cast<double>(1 + i + length);
  const double part = loop(rank.part.data(), length), all = part * threads.count();
  const auto time = [&](const char* call, double expected, auto operation) {
    operation();  // plans are made at the first call
    const double taken = time_of(threads, me, samples, expected, operation);
    if (me != root) return;
    row_begin_call("array", call, length * sizeof(double));
    row_integer("elements", static_cast<int64_t>(length));
    row_integer("repetition", repetition);
    row_number("ns", taken);
    row_end();
  };
  time("loop", part, [&] { return loop(rank.part.data(), length); });
  time("fold", part, [&] { return fold(rank); });
  time("one_element", all, [&] { return one_element(rank, part); });
  time("array", all, [&] { return array(rank); });
  time("plain", all, [&] { return one_element(rank, loop(rank.part.data(), length)); });
  time("vectors", all, [&] { return vectors(rank); });
}

void measure_once(BoundThreads& threads, int repetition) {
  const ThreadTeam team(threads);
  threads.run([&](int me) {
    Rank rank{team.group(me), {}, {}};
    for (const size_t length : lengths) measure_length(threads, me, rank, length, repetition);
  });
}

void measure_array(int argc, char** argv) {
  const Options options("--cores A,B,... --repetitions N", argc, argv);
  const int repetitions = options.number("--repetitions", 1, 1000);
  BoundThreads threads(options.cores());
  threads.job_row();
  for (int i = 0; i < repetitions; ++i) measure_once(threads, i);
}

const Kind kind("array", measure_array);

}  // namespace

}  // namespace tutti::bench
