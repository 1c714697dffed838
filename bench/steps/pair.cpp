#include "steps/pair.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <string>

#include "statistics.h"

namespace tutti::bench {
namespace {

// The first processing unit of the core that `unit` belongs to.
int core_of(int unit) {
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(unit) +
                     "/topology/thread_siblings_list");
  int first = unit;
  return file >> first ? first : unit;
}

[[noreturn]] void run_one(Pair::Shared& shared, int self, const int cores[2],
                          const BenchClock& clock, const Pair::Body& body) {
  bind_to(cores[self]);
  alarm(20);  // a measurement that hangs ends
  shared.process[self] = getpid();
  Pair pair(shared, self, clock, cores[0] == cores[1]);
  body(pair);
  _exit(0);
}

}  // namespace

std::vector<int> pair_cores() {
  std::vector<int> found;
  for (const int unit : usable_cores())
    if (found.empty() || (found.size() < 2 && core_of(unit) != core_of(found[0])))
      found.push_back(unit);
  return found;
}

std::optional<std::array<double, 2>> Pair::run(const int cores[2], const Body& body) {
  static const BenchClock clock = bench_clock_open();
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return std::nullopt;
  Shared& shared = *new (memory) Shared();
  pid_t children[2] = {-1, -1};
  for (int self = 0; self < 2; ++self) {
    children[self] = fork();
    if (children[self] == 0) run_one(shared, self, cores, clock, body);
  }
  bool good = true;
  for (const pid_t child : children) {
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) good = false;
  }
  const std::array<double, 2> results{shared.result[0], shared.result[1]};
  munmap(memory, sizeof(Shared));
  if (!good || results[0] < 0) return std::nullopt;
  return results;
}

// The least of several batches, because other programs get the core, too.
void yield_hand_over(Pair& pair) {
  constexpr unsigned batches = 40, rounds = 100;
  Pair::Word& turn = pair.shared.word[0];
  pair.meet();
  double least = HUGE_VAL;
  for (unsigned batch = 0; batch < batches; ++batch) {
    const uint64_t began = pair.now();
    for (unsigned i = 0; i < rounds; ++i) {
      while (turn.load() % 2 != static_cast<unsigned>(pair.self)) sched_yield();
      turn.store(turn.load() + 1);
    }
    least = std::min(least, pair.seconds_since(began));
  }
  pair.set(least / (2 * rounds));
}

void fetch(Pair& pair, std::byte* shared, size_t bytes, Fetch how) {
  const Memory own = memory_of(bytes), destination = memory_of(bytes);
  const auto take = [&] {
    if (how == Fetch::shared || how == Fetch::own) {
      std::memcpy(destination.get(), how == Fetch::own ? own.get() : shared, bytes);
    } else if (how == Fetch::sum) {
      auto* const sum = reinterpret_cast<double*>(destination.get());
      const auto *const one = reinterpret_cast<const double*>(own.get()),
                        *const other = reinterpret_cast<const double*>(shared);
      for (size_t i = 0; i < bytes / sizeof(double); ++i) sum[i] = one[i] + other[i];
    } else {
      const iovec local{destination.get(), bytes}, remote{pair.shared.address[1], bytes};
      return process_vm_readv(pair.shared.process[1], &local, 1, &remote, 1, 0) ==
             static_cast<ssize_t>(bytes);
    }
    return true;
  };
  pair.shared.address[pair.self] = own.get();
  int rounds = 501;
  if (bytes > 262144) rounds = 31;
  if (bytes > 4194304) rounds = 7;
  bool failed = false;
  std::vector<double> taken;
  for (int i = 0; i < rounds; ++i) {
    const bool is_owner = pair.self == 1 && how != Fetch::system;
    std::memset(is_owner ? shared : own.get(), i, bytes);
    pair.meet();
    const uint64_t began = pair.now();
    if (pair.self == 0 && !take()) failed = true;
    taken.push_back(pair.seconds_since(began));
    asm volatile("" ::"r"(destination.get()) : "memory");
    pair.meet();
  }
  pair.set(failed ? -1 : median(taken));
}

}  // namespace tutti::bench
