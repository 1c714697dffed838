// Threads on chosen cores that begin at one instant, for measurements of steps and algorithms.
//
// One caller starts them; run() returns when all have ended. Within the body all threads call
// meet() alike.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

extern "C" {
#include "clock.h"
}

namespace tutti::bench {

class BoundThreads {
 public:
  // A thread for each entry, which names its core. Threads of one core yield while they wait.
  explicit BoundThreads(std::vector<int> cores);

  int count() const { return static_cast<int>(cores_.size()); }
  int core(int thread) const { return cores_[static_cast<size_t>(thread)]; }
  bool share_cores() const { return share_cores_; }
  const BenchClock& clock() const { return clock_; }

  // False if a thread could not be bound to its core. An exception in a body ends the process with
  // one line, because the other threads would wait for this one.
  bool run(const std::function<void(int thread)>& body);

  // Returns when all threads have called it, to all of them at the same instant, which is the
  // result, in ticks. If threads share cores they return one after another.
  uint64_t meet(int thread);
  uint64_t now() const { return bench_now(&clock_); }
  double nanoseconds(uint64_t ticks) const {
    return static_cast<double>(ticks) / clock_.ticks_per_second * 1e9;
  }

 private:
  struct alignas(128) Own {
    uint64_t meetings = 0;
  };

  std::vector<int> cores_;
  bool share_cores_;
  BenchClock clock_;
  std::vector<Own> own_;
  alignas(128) std::atomic<uint64_t> arrived_{0};
  alignas(128) std::atomic<uint64_t> released_{0};  // meetings
  std::atomic<uint64_t> start_{0};                  // the start of the last meeting
};

// Memory that starts on a page, filled with zeros.
struct FreePages {
  void operator()(std::byte* memory) const;
};
using Memory = std::unique_ptr<std::byte, FreePages>;
Memory memory_of(size_t bytes);

// The mean of the middle half, which the resolution of the clock does not limit. Changes the order
// of the values, of which there must be one.
double middle_mean(std::vector<double>& values);

// True if two entries are the same core.
bool share_cores(std::vector<int> cores);

// The cores of "0,1,1". Throws Error(invalid_argument) that names `option` if the text is no such
// list, or if the process may not run on one of them.
std::vector<int> read_cores(const char* option, const char* text);

}  // namespace tutti::bench
