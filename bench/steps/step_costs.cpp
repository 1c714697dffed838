#include "steps/step_costs.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "exec/slot_stores.h"
#include "group/group.h"
#include "plan/geometry.h"
#include "shm/layout.h"
#include "steps/bound_threads.h"

namespace tutti::bench {
namespace {

constexpr size_t pipelined_segment = 16 * 1024;
constexpr size_t shared_from = 4096;  // shorter vectors are combined whole
constexpr size_t longest = step_lengths[std::size(step_lengths) - 1];

int rounds_of(size_t bytes) {
  if (bytes > 512 * 1024) return 15;
  return bytes > 32 * 1024 ? 51 : 301;
}

// Each thread has three vectors: two that it rewrites, and a result.
struct Vectors {
  Memory a, b, result;
  uint64_t round = 0;   // hand-overs through slots so far
  size_t position = 0;  // in the ring of slots
};

class Measurement {
 public:
  Measurement(const std::vector<int>& cores, const StepRows& rows, CoreTimes state)
      : rows_(rows), threads_(cores), state_(threads_, state), ends_(cores.size()) {
    for (size_t i = 0; i < cores.size(); ++i)
      vectors_.push_back({memory_of(longest), memory_of(longest), memory_of(longest), 0, 0});
    sum_ = kernels::find_reduce(kernels::Type::float64, kernels::Op::sum);
  }

  void run() {
    if (!threads_.run([&](int thread) { measure(thread); }))
      throw Error(Code::unavailable, "--cores: a thread could not be bound to its core");
    rows_.add_steady(state_.is_steady());
  }

 private:
  using Body = std::function<void(int thread)>;

  // The time of `timed` at the slowest of the threads that do it (the first `count`),
  // without the time of the clock. All threads rewrite their vectors first.
  double time(int thread, size_t bytes, int count, const Body& prepare, const Body& timed) {
    std::vector<double> taken;
    state_.repeat(thread, [&] {
      taken.clear();
      for (int round = 0; round < rounds_of(bytes); ++round) {
        prepare(thread);
        taken.push_back(threads_.slowest(thread, count, [&] { timed(thread); }));
      }
    });
    return std::max(0.0, middle_mean(taken) - clock_);
  }

  void measure(int thread) {
    const double empty = time(thread, 0, 1, [](int) {}, [](int) {});
    threads_.meet(thread);
    if (thread == 0) clock_ = empty;
    threads_.meet(thread);
    keep(thread, "clock", empty);
    const double handed = threads_.count() > 1 ? measure_hand_overs(thread) : 0;
    measure_calls(thread);
    measure_own(thread);
    if (threads_.count() > 1) measure_accesses(thread, handed);
  }

  void keep(int thread, const std::string& step, double nanoseconds, size_t bytes = 0) const {
    if (thread == 0) rows_.add(step, bytes, std::max(0.0, nanoseconds));
  }

  // Rewrites what a step reads and nothing else: caches hold no more than a collective leaves
  // there.
  static void rewrite(const Memory& vector, size_t bytes) {
    std::fill_n(reinterpret_cast<double*>(vector.get()), bytes / sizeof(double), 1.5);
  }
  void rewrite_both(int thread, size_t bytes) {
    rewrite(of(thread).a, bytes);
    rewrite(of(thread).b, bytes);
  }

  // From a store to its sight, on lines that no prefetcher joins. `hand_over`: the other waits for
  // it. `exchange`: each stores and waits for the other's. Returns the first.
  double measure_hand_overs(int thread) {
    auto* const flags = reinterpret_cast<std::atomic<uint64_t>*>(vectors_[0].result.get());
    uint64_t round = 0;
    const auto store = [&](int self) { flags[self * 32].store(round, std::memory_order_release); };
    const auto await = [&](int other) {
      while (flags[other * 32].load(std::memory_order_acquire) < round) continue;
    };
    const auto next = [&](int) { ++round; };
    const double one_way =
        time(thread, 0, 2, next, [&](int self) { self == 0 ? store(0) : await(0); });
    const double both_ways = time(thread, 0, 2, next, [&](int self) {
      store(self);
      await(!self);
    });
    keep(thread, "hand_over", one_way);
    keep(thread, "exchange", std::max(one_way, both_ways));
    return one_way;
  }

  // A call of a group of one rank without steps, and what a step adds to it: in turns, so that both
  // find the core in one state.
  void measure_calls(int thread) {
    constexpr int rounds = 601, calls = 8;
    const Memory areas = memory_of(thread == 0 ? alone_.bytes() : 1);
    group::Group::Settings settings;
    settings.areas = areas.get();
    settings.layout = alone_;
    if (thread != 0) {  // the others only meet it
      for (int i = 0; i < 4 * rounds; ++i) threads_.meet(thread);
      return;
    }
    group::Group group(settings);
    group::Call barrier, reduction;
    barrier.collective = plan::Collective::barrier;
    exec::Combine sum;
    sum.kernel = sum_;
    sum.element = sizeof(double);
    reduction = {plan::Collective::allreduce, of(0).a.get(), of(0).result.get(), 1, 0, &sum};
    const auto timed = [&](int count, const group::Call& call) {
      const uint64_t start = threads_.meet(0);
      for (int i = 0; i < count; ++i) group.run(call);
      return threads_.nanoseconds(threads_.now() - start);
    };
    std::vector<double> nothing, empty, several, with_step;
    for (int round = 0; round < rounds; ++round) {
      nothing.push_back(timed(0, barrier));
      empty.push_back(timed(1, barrier));
      several.push_back(timed(calls, barrier));
      with_step.push_back(timed(calls, reduction));
    }
    // A single call, because a program does other work in between.
    keep(thread, "call", std::max(0.0, middle_mean(empty) - middle_mean(nothing)));
    keep(thread, "step", std::max(0.0, (middle_mean(with_step) - middle_mean(several)) / calls));
  }

  // A table of times by length from `least` on, less `without`.
  void table(int thread, const std::string& name, int count,
             const std::function<void(int, size_t)>& prepare,
             const std::function<void(int, size_t)>& timed, double without = 0, size_t least = 0) {
    for (const size_t bytes : step_lengths) {
      if (bytes < least) continue;
      const double taken = time(
          thread, bytes, count, [&](int self) { prepare(self, bytes); },
          [&](int self) { timed(self, bytes); });
      keep(thread, name, taken - without, bytes);
    }
  }

  Vectors& of(int thread) { return vectors_[static_cast<size_t>(thread)]; }
  // Returns the vectors that a thread reads: those of the next one, in a ring.
  Vectors& other_of(int thread) { return of((thread + 1) % threads_.count()); }

  void measure_own(int thread) {
    table(
        thread, "copy", 1,
        [this](int self, size_t bytes) {
          if (self == 0) rewrite(of(0).a, bytes);
        },
        [this](int self, size_t bytes) {
          kernels::copy(of(self).result.get(), of(self).a.get(), bytes);
        });
    table(
        thread, "combine", 1,
        [this](int self, size_t bytes) {
          if (self == 0) rewrite_both(0, bytes);
        },
        [this](int self, size_t bytes) {
          sum_(of(self).result.get(), of(self).a.get(), of(self).b.get(), bytes / sizeof(double));
        });
  }

  void measure_accesses(int thread, double hand_over) {
    const auto prepare_reads = [this](int self, size_t bytes) { rewrite(of(self).a, bytes); };
    const auto read = [this](int self, size_t bytes) {
      kernels::copy_from_other(of(self).result.get(), other_of(self).a.get(), bytes);
    };
    const auto add = [this](int self, size_t bytes) {
      sum_(of(self).result.get(), of(self).b.get(), other_of(self).a.get(), bytes / sizeof(double));
    };
    // Each thread reads its own `a`, which another thread reads at the same time, as in an
    // allreduce in which all read all.
    const auto add_same = [this](int self, size_t bytes) {
      sum_(of(self).result.get(), of(self).a.get(), other_of(self).a.get(), bytes / sizeof(double));
    };
    table(
        thread, "read", 1,
        [this](int self, size_t bytes) {
          if (self == 1) rewrite(of(1).a, bytes);
        },
        read);
    table(
        thread, "add", 1,
        [this](int self, size_t bytes) {
          if (self < 2) rewrite(self == 0 ? of(0).b : of(1).a, bytes);
        },
        add);
    table(thread, "add_same", 2, prepare_reads, add_same);
    using Policy = exec::SlotStores::Policy;
    const size_t ring = resources_.long_slots;
    const auto in_ring = [this](int self, size_t bytes) { return place_in_ring(self, bytes); };
    const auto in_place = [this](int, size_t) { return of(0).result.get(); };
    measure_hand(thread, "hand", hand_over, Policy::plain, ring, in_ring);
    measure_hand(thread, "hand_in_place", hand_over, Policy::plain, longest, in_place);
    measure_hand(thread, "hand_past", hand_over, Policy::past_cache, ring, in_ring);
    measure_pipeline(thread, hand_over);
    for (int count = 2; count <= threads_.count(); count *= 2) {
      const std::string by = "_by_" + std::to_string(count);
      table(thread, "read" + by, count, prepare_reads, read);
      // Each combines its part of two vectors, as where ranks share the work of a reduction. Each
      // thread combines all of a short one, because its latency does not shrink with its length,
      // and reads lines of its own: two that read the same lines take them from each other
      // (`add_same`).
      table(
          thread, "add" + by, count,
          [this](int self, size_t bytes) {
            if (bytes < shared_from)
              rewrite_both(self, bytes);
            else
              rewrite(of(self).a, bytes);
          },
          [&](int self, size_t bytes) {
            if (bytes < shared_from) return add(self, bytes);
            const size_t part = bytes / static_cast<size_t>(count) / sizeof(double);
            const size_t at = static_cast<size_t>(self) * part * sizeof(double);
            sum_(of(self).result.get() + at, of(self).a.get() + at, other_of(self).a.get() + at,
                 part);
          });
    }
  }

  // The place of so many bytes in a ring of slots, through which operations go as in a group.
  std::byte* place_in_ring(int thread, size_t bytes) {
    size_t& position = of(thread).position;
    const size_t ring =
        bytes < exec::SlotStores::least_bytes ? resources_.short_slots : resources_.long_slots;
    const size_t taken = round_up(bytes, line_size);  // as positions of a slot
    if (position + taken > ring) position = 0;
    return ring_.get() + std::exchange(position, position + taken);
  }

  // Hands data from one thread to another through a slot. Stores that the core has taken may still
  // wait for their lines, and the reader may come to lines that are on their way.
  void hand(int self, std::byte* slot, size_t at, size_t bytes, exec::SlotStores& stores) {
    auto* const flag = reinterpret_cast<std::atomic<uint64_t>*>(flag_.get());
    const uint64_t round = ++of(self).round;
    const bool is_long = bytes >= exec::SlotStores::least_bytes;
    if (self == 0) {
      if (is_long)
        stores.copy(slot, of(0).a.get() + at, bytes);
      else
        kernels::copy(slot, of(0).a.get() + at, bytes);
      flag->store(round, std::memory_order_release);
      return;
    }
    while (flag->load(std::memory_order_acquire) < round) continue;  // as the executor at first
    ends_[1].begin = threads_.now();
    if (is_long)
      kernels::copy_from_other(of(1).result.get() + at, slot, bytes);
    else
      kernels::copy(of(1).result.get() + at, slot, bytes);
  }

  // Handing over through the ring in segments, so that the reader reads while the writer writes the
  // next one: the time until all has been read, less the hand-over.
  void measure_pipeline(int thread, double hand_over) {
    exec::SlotStores stores(exec::SlotStores::Policy::plain);
    table(
        thread, "pipeline", 2,
        [this](int self, size_t bytes) {
          if (self == 0) rewrite(of(0).a, bytes);
        },
        [&](int self, size_t bytes) {
          for (size_t at = 0; at < bytes; at += pipelined_segment)
            hand(self, place_in_ring(self, pipelined_segment), at, pipelined_segment, stores);
        },
        hand_over, 2 * pipelined_segment);
  }

  // Handing over through places that `place` tells: tables of the time until all has been read,
  // less the hand-over, of the writer's own, and of the reader's own.
  template <class Place>
  void measure_hand(int thread, const std::string& name, double hand_over,
                    exec::SlotStores::Policy policy, size_t most, const Place& place) {
    exec::SlotStores stores(policy);
    for (const size_t bytes : step_lengths) {
      if (bytes > most) break;
      if (policy == exec::SlotStores::Policy::past_cache && bytes < exec::SlotStores::least_bytes)
        continue;
      std::vector<double> all, written, read;
      state_.repeat(thread, [&] {
        for (std::vector<double>* times : {&all, &written, &read}) times->clear();
        for (int round = 0; round < rounds_of(bytes); ++round) {
          if (thread == 0) rewrite(of(0).a, bytes);
          const uint64_t start = threads_.meet(thread);
          if (thread < 2) {
            hand(thread, place(thread, bytes), 0, bytes, stores);
            ends_[static_cast<size_t>(thread)].ticks = threads_.now();
          }
          threads_.meet(thread);
          all.push_back(threads_.nanoseconds(ends_[1].ticks - start));
          written.push_back(threads_.nanoseconds(ends_[0].ticks - start));
          read.push_back(threads_.nanoseconds(ends_[1].ticks - ends_[1].begin));
          threads_.meet(thread);
        }
      });
      keep(thread, name, middle_mean(all) - clock_ - hand_over, bytes);
      keep(thread, name + "_written", middle_mean(written) - clock_, bytes);
      keep(thread, name + "_read", middle_mean(read) - clock_, bytes);
    }
  }

  struct alignas(128) End {
    uint64_t ticks = 0;
    uint64_t begin = 0;  // when a reader saw that there is something to read
  };

  const StepRows& rows_;
  BoundThreads threads_;
  CoreState state_;
  std::vector<Vectors> vectors_;
  std::vector<End> ends_;
  kernels::Reduce sum_;
  shm::Layout alone_ = shm::Layout::fit(1, shm::modest_area);
  shm::Layout usual_ = shm::Layout::fit(2, shm::first_area(2, 0, false));
  plan::Resources resources_ = plan::resources_of(usual_.slot_bytes, usual_.line_count);
  Memory ring_ = memory_of(usual_.slot_bytes);
  Memory flag_ = memory_of(4096);
  double clock_ = 0;
};

}  // namespace

void StepRows::begin(const char* step, size_t bytes) const {
  row_begin_call("step", step, bytes);
  if (repetition >= 0) row_integer("repetition", repetition);
  if (unit >= 0) row_integer("unit", unit);
}

void StepRows::add(const std::string& step, size_t bytes, double nanoseconds) const {
  begin(step.c_str(), bytes);
  row_number("ns", nanoseconds);
  row_end();
}

void StepRows::add_steady(bool steady) const {
  begin("steady", 0);
  row_flag("steady", steady);
  row_end();
}

void add_step_costs(const std::vector<int>& cores, const StepRows& rows, CoreTimes state) {
  Measurement(cores, rows, state).run();
}

}  // namespace tutti::bench
