// tutti-array: what the reduction of a shared array takes among bound threads, beside what programs
// do without it. It needs no MPI.
//
// Usage: tutti-array --cores A,B,... --repetitions N
//
// There is a rank on each core, with 2,048 and with 131,072 doubles, as in NUMACol's measurements
// ("Scalable PGAS collectives", section 4.2.2). Writes JSON to stdout: for each repetition and
// length, in nanoseconds,
//   loop         the sum of a rank's part by a plain loop, as the compiler makes it
//   fold         by tutti_fold
//   one_element  tutti_reduce of one element of each rank
//   array        tutti_reduce_array
//   plain        the loop and tutti_reduce of one element
//   vectors      tutti_reduce of the ranks' parts as vectors, and the loop over the result
// All but the first two are from the instant at which all ranks begin until the root has the
// result.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "steps/bound_threads.h"
#include "tutti/tutti.h"

namespace {

using namespace tutti;
using bench::BoundThreads;

constexpr size_t lengths[] = {2048, 131072};
constexpr int root = 0;

void require_ok(tutti_status status) {
  if (status != TUTTI_OK) throw Error(static_cast<Code>(status), tutti_error_message());
}

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
  return bench::middle_mean(times);
}

// Times of one length, at the root; other ranks' are of no use.
Json times_of(BoundThreads& threads, int me, Rank& rank, size_t length) {
  const int samples = length > 10'000 ? 100 : 1000;
  rank.part.assign(length, 0);
  rank.out.assign(length, 0);
  for (size_t i = 0; i < length; ++i) rank.part[i] = 1.0 / static_cast<double>(1 + i + length);
  const double part = loop(rank.part.data(), length), all = part * threads.count();
  const auto time = [&](double expected, auto operation) {
    operation();  // plans are made at the first call
    return time_of(threads, me, samples, expected, operation);
  };
  Json json;
  json["elements"] = length;
  json["loop"] = time(part, [&] { return loop(rank.part.data(), length); });
  json["fold"] = time(part, [&] { return fold(rank); });
  json["one_element"] = time(all, [&] { return one_element(rank, part); });
  json["array"] = time(all, [&] { return array(rank); });
  json["plain"] = time(all, [&] { return one_element(rank, loop(rank.part.data(), length)); });
  json["vectors"] = time(all, [&] { return vectors(rank); });
  return json;
}

Json measured(BoundThreads& threads) {
  Json json = Json::array();
  tutti_team* team = nullptr;
  require_ok(tutti_team_create(threads.count(), &team));
  threads.run([&](int me) {
    Rank rank;
    require_ok(tutti_team_join(team, me, &rank.group));
    for (const size_t length : lengths) {
      Json times = times_of(threads, me, rank, length);
      if (me == root) json.push_back(std::move(times));
    }
    tutti_group_free(rank.group);
  });
  tutti_team_free(team);
  return json;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 5 || std::string_view(argv[1]) != "--cores" ||
        std::string_view(argv[3]) != "--repetitions")
      throw Error(Code::invalid_argument,
                  "give --cores and a core for each rank, and --repetitions and their number");
    const std::vector<int> cores = bench::read_cores("--cores", argv[2]);
    const int repetitions = std::atoi(argv[4]);
    if (repetitions < 1) throw Error(Code::invalid_argument, "--repetitions needs at least 1");
    BoundThreads threads(cores);
    Json json;
    json["format"] = "tutti-array 1";
    json["cores"] = cores;
    json["repetitions"] = Json::array();
    for (int i = 0; i < repetitions; ++i) json["repetitions"].push_back(measured(threads));
    std::puts(json_text(json, 1).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-array: %s\n", error.what());
    return 2;
  }
}
