#include "steps/bound_threads.h"

#include <sched.h>

#include <utility>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <thread>

#include "base/error.h"

namespace tutti::bench {

std::vector<int> usable_cores() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  sched_getaffinity(0, sizeof usable, &usable);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<size_t>(core), &usable)) cores.push_back(core);
  return cores;
}

bool bind_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(core), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

BoundThreads::BoundThreads(std::vector<int> cores)
    : cores_(std::move(cores)),
      share_cores_(bench::share_cores(cores_)),
      clock_(bench_clock_open()),
      own_(cores_.size()) {}

bool BoundThreads::run(const std::function<void(int thread)>& body) {
  std::atomic<bool> all_bound{true};
  std::atomic<int> bound{0};
  std::vector<std::thread> threads;
  threads.reserve(cores_.size());
  for (int thread = 0; thread < count(); ++thread)
    threads.emplace_back([&, thread] {
      if (!bind_to(cores_[static_cast<size_t>(thread)])) all_bound = false;
      ++bound;
      while (bound != count()) std::this_thread::yield();
      if (!all_bound) return;
      try {
        body(thread);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "thread %d: %s\n", thread, error.what());
        std::_Exit(2);
      }
    });
  for (std::thread& thread : threads) thread.join();
  return all_bound;
}

uint64_t Meeting::meet(int all, uint64_t number, const BenchClock& clock, bool share_cores) {
  if (arrived_.fetch_add(1) + 1 == number * static_cast<uint64_t>(all)) {
    // All see the release within a microsecond.
    const auto lead = share_cores ? 0 : static_cast<uint64_t>(clock.ticks_per_second * 1e-6);
    start_.store(bench_now(&clock) + lead, std::memory_order_relaxed);
    released_.store(number, std::memory_order_release);
  }
  while (released_.load(std::memory_order_acquire) < number) {
    if (share_cores)
      sched_yield();
    else
      bench_pause();
  }
  const uint64_t start = start_.load(std::memory_order_relaxed);
  while (bench_now(&clock) < start) continue;
  return start;
}

constexpr std::align_val_t page{4096};

void FreePages::operator()(std::byte* memory) const { ::operator delete(memory, page); }

Memory memory_of(size_t bytes) {
  Memory memory(static_cast<std::byte*>(::operator new(bytes, page)));
  std::memset(memory.get(), 0, bytes);
  return memory;
}

bool share_cores(std::vector<int> cores) {
  std::sort(cores.begin(), cores.end());
  return std::adjacent_find(cores.begin(), cores.end()) != cores.end();
}

std::vector<int> read_cores(const char* option, const char* text) {
  const std::vector<int> usable = usable_cores();
  std::vector<int> cores;
  const char* const end = text + std::strlen(text);
  for (const char* at = text;;) {
    int core = -1;
    const auto [next, error] = std::from_chars(at, end, core);
    if (error != std::errc{} || core < 0 || (next != end && *next != ','))
      throw Error(Code::invalid_argument,
                  std::string(option) + ": '" + text + "' is no list of cores, as in 0,1");
    if (std::find(usable.begin(), usable.end(), core) == usable.end())
      throw Error(
          Code::invalid_argument,
          std::string(option) + ": this process may not run on core " + std::to_string(core));
    cores.push_back(core);
    if (next == end) return cores;
    at = next + 1;
  }
}

}  // namespace tutti::bench
