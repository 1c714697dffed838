// Two processes on chosen cores that run one measurement together.
//
// They are processes and not threads, because ranks are processes: one reads the other's memory as
// an MPI would. The two are forked for each measurement, share one anonymous mapping, and have
// ended when run() returns. The caller has no other thread.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "clock.h"
#include "steps/bound_threads.h"

namespace tutti::bench {

// One of the processes, in a measurement.
class Pair {
 public:
  struct alignas(128) Word {
    std::atomic<unsigned> value{0};

    unsigned load() const { return value.load(std::memory_order_acquire); }
    void store(unsigned number) { value.store(number, std::memory_order_release); }
  };
  // All zero at first.
  struct Shared {
    Word word[2];  // word[i] is written by process i, or by both
    Meeting meeting;
    pid_t process[2] = {};
    void* address[2] = {};  // private memory that a process offers
    double result[2] = {};  // seconds, indexed by process; below 0: the measurement failed
    uint64_t ticks[2][4096] = {};
  };
  using Body = std::function<void(Pair&)>;

  // Runs `body` in both processes, each on its core. None if one could not be started, died or
  // failed; else the results.
  static std::optional<std::array<double, 2>> run(const int cores[2], const Body& body);

  Pair(Shared& shared, int self, const BenchClock& clock, bool share_core)
      : shared(shared),
        self(self),
        mine(shared.word[self]),
        other(shared.word[!self]),
        share_core_(share_core),
        clock_(clock) {}

  // Waits until both have arrived. Processes with cores of their own continue at one instant, which
  // is the result, in ticks.
  uint64_t meet() { return shared.meeting.meet(2, ++meetings_, clock_, share_core_); }
  uint64_t now() const { return bench_now(&clock_); }
  double seconds_since(uint64_t begin) const { return seconds(now() - begin); }
  double seconds(uint64_t ticks) const {
    return static_cast<double>(ticks) / clock_.ticks_per_second;
  }
  void set(double seconds) { shared.result[self] = seconds; }

  Shared& shared;
  const int self;  // 0 or 1
  Word &mine, &other;

 private:
  uint64_t meetings_ = 0;
  const bool share_core_;
  const BenchClock clock_;
};

// The usable cores, as their first processing units: two, if there are two. Units of one core share
// more than two cores do, so a pair does not use them.
std::vector<int> pair_cores();

// The measurements that several kinds have in common.
//
// Both processes are on one core, and each yields until it is its turn. The time from turn to turn.
void yield_hand_over(Pair& pair);
// Before each round a process rewrites so many bytes; then process 0 reads them. `shared`: memory
// that both have mapped. The first two read process 1's data there; `system` copies it from process
// 1's own memory by process_vm_readv; `own` copies process 0's.
enum class Fetch { shared, sum, system, own };
void fetch(Pair& pair, std::byte* shared, size_t bytes, Fetch how);

}  // namespace tutti::bench
