// The latency of reading modified lines, over the size of the data (HMPI, section 3.4, figures 19
// and 21).
//
// Usage: tutti-threads latency --cores A,B --bytes FIRST,LAST
//
// A process on the first core follows a chain through all lines of a buffer, in random order. Each
// line holds the number of the next one, so no read begins before the one before has ended. Before
// each round all lines are rewritten, and so are modified in the caches of who wrote them: rows
// `own`, by the reader itself, and rows `other`, by a process on the second core. They have the
// median of the nanoseconds a line, by powers of two of bytes from FIRST to LAST.
#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "steps/bound_threads.h"
#include "steps/kinds.h"
#include "steps/pair.h"
#include "steps/step_costs.h"

namespace tutti::bench {
namespace {

struct alignas(64) Line {
  std::atomic<uint32_t> next{0};
};
using Cycle = std::vector<uint32_t>;  // indexed by line: the next one

// Sattolo's shuffle: one cycle through all lines.
Cycle random_cycle(size_t lines) {
  Cycle next(lines);
  std::iota(next.begin(), next.end(), 0U);
  std::minstd_rand random(1);
  for (size_t i = lines - 1; i > 0; --i) std::swap(next[i], next[random() % i]);
  return next;
}

// Memory that both processes of a pair have mapped.
class SharedLines {
 public:
  explicit SharedLines(size_t bytes) : bytes_(bytes) {
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED)
      throw Error(Code::unavailable, "no memory for " + std::to_string(bytes) + " bytes");
  }
  ~SharedLines() { munmap(memory_, bytes_); }
  SharedLines(const SharedLines&) = delete;
  SharedLines& operator=(const SharedLines&) = delete;

  Line* get() const { return static_cast<Line*>(memory_); }

 private:
  const size_t bytes_;
  void* memory_ = nullptr;
};

void follow(Pair& pair, Line* lines, const Cycle& next, int writer) {
  const size_t bytes = next.size() * sizeof(Line);
  int rounds = 31;
  if (bytes > 262144) rounds = 11;
  if (bytes > 4194304) rounds = 5;
  std::vector<double> taken;
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; pair.self == writer && i < next.size(); ++i)
      lines[i].next.store(next[i], std::memory_order_relaxed);
    if (writer != 0) pair.meet();  // a reader that waited might find its own lines evicted
    if (pair.self == 0) {
      const uint64_t began = pair.now();
      uint32_t at = 0;
      do {
        at = lines[at].next.load(std::memory_order_relaxed);
      } while (at != 0);
      taken.push_back(pair.seconds_since(began));
    }
    pair.meet();
  }
  if (pair.self == 0) pair.set(median(taken) / static_cast<double>(next.size()));
}

void measure_latency(int argc, char** argv) {
  const Options options("--cores A,B --bytes FIRST,LAST", argc, argv);
  const auto [first, last] = options.range(2 * sizeof(Line), size_t{1} << 30);
  const std::vector<int> cores = options.cores(2);
  const SharedLines lines(last);
  const StepRows rows;
  for (size_t size = first; size <= last; size *= 2) {
    const Cycle next = random_cycle(size / sizeof(Line));
    for (const int writer : {0, 1}) {
      const auto line =
          Pair::run(cores.data(), [&](Pair& pair) { follow(pair, lines.get(), next, writer); });
      if (!line)
        throw Error(Code::unavailable, "two processes on the processing units " +
                                           std::to_string(cores[0]) + " and " +
                                           std::to_string(cores[1]) + " did not end");
      rows.add(writer == 0 ? "own" : "other", size, (*line)[0] * 1e9);
    }
  }
}

const Kind kind("latency", measure_latency);

}  // namespace

}  // namespace tutti::bench
