#include "steps/step_costs.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "exec/slot_stores.h"
#include "group/group.h"
#include "shm/layout.h"
#include "steps/bound_threads.h"

namespace tutti::bench {
namespace {

constexpr size_t longest = step_lengths[std::size(step_lengths) - 1];

int rounds_of(size_t bytes) {
  if (bytes > 512 * 1024) return 15;
  return bytes > 32 * 1024 ? 51 : 301;
}

// Each thread has three vectors: two that it rewrites, and a result.
struct Vectors {
  Memory a, b, result;
  uint64_t round = 0;  // of hand-overs through the slot so far
};

class Measurement {
 public:
  explicit Measurement(const std::vector<int>& cores) : threads_(cores), ends_(cores.size()) {
    for (size_t i = 0; i < cores.size(); ++i)
      vectors_.push_back({memory_of(longest), memory_of(longest), memory_of(longest), 0});
    sum_ = kernels::find_reduce(kernels::Type::float64, kernels::Op::sum);
  }

  Json run() {
    Json json;
    if (!threads_.run([&](int thread) { measure(thread, json); }))
      throw Error(Code::unavailable, "--cores: a thread could not be bound to its core");
    return json;
  }

 private:
  using Body = std::function<void(int thread)>;

  // The time of `timed` at the slowest of the threads that do it (the first `count`),
  // without the time of the clock. All threads rewrite their vectors first.
  double time(int thread, size_t bytes, int count, const Body& prepare, const Body& timed) {
    std::vector<double> taken;
    const int rounds = rounds_of(bytes);
    for (int round = 0; round < rounds; ++round) {
      prepare(thread);
      const uint64_t start = threads_.meet(thread);
      if (thread < count) {
        timed(thread);
        ends_[static_cast<size_t>(thread)].ticks = threads_.now() - start;
      }
      threads_.meet(thread);
      uint64_t slowest = 0;
      for (int i = 0; i < count; ++i)
        slowest = std::max(slowest, ends_[static_cast<size_t>(i)].ticks);
      taken.push_back(threads_.nanoseconds(slowest));
      threads_.meet(thread);
    }
    return std::max(0.0, middle_mean(taken) - clock_);
  }

  void measure(int thread, Json& json) {
    const double empty = time(thread, 0, 1, [](int) {}, [](int) {});
    threads_.meet(thread);
    if (thread == 0) clock_ = empty;
    threads_.meet(thread);
    keep(thread, json, "clock", empty);
    const double handed = threads_.count() > 1 ? hand_over(thread) : 0;
    if (threads_.count() > 1) keep(thread, json, "hand_over", handed);
    measure_calls(thread, json);
    measure_own(thread, json);
    if (threads_.count() > 1) measure_accesses(thread, json, handed);
  }

  static void keep(int thread, Json& json, const char* name, double value) {
    if (thread == 0) json[name] = rounded(value, 2);
  }

  void rewrite(int thread, size_t bytes) {
    Vectors& own = vectors_[static_cast<size_t>(thread)];
    std::fill_n(reinterpret_cast<double*>(own.a.get()), bytes / sizeof(double), 1.5);
    std::fill_n(reinterpret_cast<double*>(own.b.get()), bytes / sizeof(double), 2.5);
  }

  // From a store to its sight: both begin at once, and each waits for the other's flag.
  double hand_over(int thread) {
    auto* const flags = reinterpret_cast<std::atomic<uint64_t>*>(vectors_[0].result.get());
    uint64_t round = 0;
    return time(
        thread, 0, 2, [&](int) { ++round; },
        [&](int self) {
          // On lines that no prefetcher joins.
          flags[self * 32].store(round, std::memory_order_release);
          while (flags[!self * 32].load(std::memory_order_acquire) < round) continue;
        });
  }

  // A call of a group of one rank, without steps, and one with a single step.
  void measure_calls(int thread, Json& json) {
    const Memory areas = memory_of(thread == 0 ? alone_.bytes() : 1);
    group::Group::Settings settings;
    settings.areas = areas.get();
    settings.layout = alone_;
    if (thread != 0) {  // the others only meet it
      for (int i = 0; i < 2; ++i) time(thread, 0, 1, [](int) {}, [](int) {});
      return;
    }
    group::Group group(settings);
    group::Call barrier, reduction;
    barrier.collective = plan::Collective::barrier;
    exec::Combine sum;
    sum.kernel = sum_;
    sum.element = sizeof(double);
    reduction = {plan::Collective::allreduce, of(0).a.get(), of(0).result.get(), 1, 0, &sum};
    // One call at a time, because a program does other work in between.
    const auto per_call = [&](const group::Call& call) {
      return time(thread, 0, 1, [](int) {}, [&](int) { group.run(call); });
    };
    const double empty = per_call(barrier), with_step = per_call(reduction);
    keep(thread, json, "call", empty);
    keep(thread, json, "step", std::max(0.0, with_step - empty));
  }

  // A table of times by length from `least` on, less `without`.
  void table(int thread, Json& json, const std::string& name, int count,
             const std::function<void(int, size_t)>& prepare,
             const std::function<void(int, size_t)>& timed, double without = 0, size_t least = 0) {
    for (const size_t bytes : step_lengths) {
      if (bytes < least) continue;
      const double taken = time(
          thread, bytes, count, [&](int self) { prepare(self, bytes); },
          [&](int self) { timed(self, bytes); });
      if (thread == 0)
        json[name][std::to_string(bytes)] = rounded(std::max(0.0, taken - without), 2);
    }
  }

  Vectors& of(int thread) { return vectors_[static_cast<size_t>(thread)]; }
  // Whose vectors a thread reads: each next to it, in a ring.
  Vectors& other_of(int thread) { return of((thread + 1) % threads_.count()); }

  void measure_own(int thread, Json& json) {
    const auto prepare = [this](int self, size_t bytes) { rewrite(self, bytes); };
    table(thread, json, "copy", 1, prepare, [this](int self, size_t bytes) {
      kernels::copy(of(self).result.get(), of(self).a.get(), bytes);
    });
    table(thread, json, "combine", 1, prepare, [this](int self, size_t bytes) {
      sum_(of(self).result.get(), of(self).a.get(), of(self).b.get(), bytes / sizeof(double));
    });
  }

  void measure_accesses(int thread, Json& json, double hand_over) {
    const auto prepare = [this](int self, size_t bytes) { rewrite(self, bytes); };
    const auto read = [this](int self, size_t bytes) {
      kernels::copy_from_other(of(self).result.get(), other_of(self).a.get(), bytes);
    };
    const auto add = [this](int self, size_t bytes) {
      sum_(of(self).result.get(), of(self).b.get(), other_of(self).a.get(), bytes / sizeof(double));
    };
    // Each reads what another reads as well, as in an allreduce in which all read all.
    const auto add_same = [this](int self, size_t bytes) {
      sum_(of(self).result.get(), of(self).a.get(), other_of(self).a.get(), bytes / sizeof(double));
    };
    table(thread, json, "read", 1, prepare, read);
    table(thread, json, "add", 1, prepare, add);
    table(thread, json, "add_same", 2, prepare, add_same);
    measure_hand(thread, json, "hand", exec::SlotStores::Policy::plain, hand_over);
    measure_hand(thread, json, "hand_past", exec::SlotStores::Policy::past_cache, hand_over);
    for (int count = 2; count <= threads_.count(); count *= 2) {
      table(thread, json, "read_by_" + std::to_string(count), count, prepare, read);
      table(thread, json, "add_by_" + std::to_string(count), count, prepare, add);
    }
  }

  // Through a slot, which the other has read before: stores that the core has taken may still
  // wait for their lines, and the reader may come to lines that are on their way.
  void measure_hand(int thread, Json& json, const char* name, exec::SlotStores::Policy policy,
                    double hand_over) {
    exec::SlotStores stores(policy);
    auto* const flag = reinterpret_cast<std::atomic<uint64_t>*>(flag_.get());
    std::byte* const slot = of(0).result.get();
    uint64_t& round = vectors_[static_cast<size_t>(thread)].round;
    const size_t least =
        policy == exec::SlotStores::Policy::plain ? 0 : exec::SlotStores::least_bytes;
    table(
        thread, json, name, 2,
        [&](int self, size_t bytes) {
          ++round;
          rewrite(self, bytes);
        },
        [&](int self, size_t bytes) {
          const bool is_long = bytes >= exec::SlotStores::least_bytes;
          if (self == 0) {
            if (is_long)
              stores.copy(slot, of(0).a.get(), bytes);
            else
              kernels::copy(slot, of(0).a.get(), bytes);
            flag->store(round, std::memory_order_release);
            return;
          }
          while (flag->load(std::memory_order_acquire) != round) bench_pause();
          if (is_long)
            kernels::copy_from_other(of(1).result.get(), slot, bytes);
          else
            kernels::copy(of(1).result.get(), slot, bytes);
        },
        hand_over, least);
  }

  struct alignas(128) End {
    uint64_t ticks = 0;
  };

  BoundThreads threads_;
  std::vector<Vectors> vectors_;
  std::vector<End> ends_;
  kernels::Reduce sum_;
  shm::Layout alone_ = shm::Layout::fit(1, shm::modest_area);
  Memory flag_ = memory_of(4096);
  double clock_ = 0;
};

}  // namespace

Json step_costs(const std::vector<int>& cores) { return Measurement(cores).run(); }

}  // namespace tutti::bench
