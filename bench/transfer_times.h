// The times of transfers of 8 bytes, beside the machine's own for the same: the common part of the
// measurements among threads (steps/transfers.cpp) and among processes (ranks/transfers.cpp).
//
// There are two sides, which call alike, each on its core with its own Side. Side 1 owns the
// memory, and side 0 measures. Times are nanoseconds.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "clock.h"
#include "require.h"
#include "rows.h"
#include "statistics.h"

namespace tutti::bench {

using Word = std::atomic<uint64_t>;

struct alignas(128) Line {
  Word value{0};

  void tell(uint64_t number) { value.store(number, std::memory_order_release); }
  // Waits without a pause, as the executor does at first.
  void await(uint64_t number) const {
    while (value.load(std::memory_order_acquire) != number) continue;
  }
};

// Shared by the sides, all zero at first.
struct Lines {
  Line turn, there, back, data;
};

inline constexpr int transfer_samples = 2000;

inline void add_transfer(const char* call, int repetition, double time) {
  row_begin_call("transfer", call, 0);
  row_integer("repetition", repetition);
  row_number("ns", time);
  row_end();
}

class Side {
 public:
  Side(Lines& lines, int me, const BenchClock& clock, int repetition)
      : lines_(lines), me_(me), clock_(clock), repetition_(repetition) {}

  // Half of a round trip of a line. The sides have met.
  void add_line() {
    constexpr uint64_t trips = 20'000;
    const uint64_t begin = now();
    for (uint64_t i = 1; i <= trips; ++i) {
      if (me_ == 0) lines_.there.tell(i);
      (me_ == 0 ? lines_.back : lines_.there).await(i);
      if (me_ == 1) lines_.back.tell(i);
    }
    add("line", nanoseconds(now() - begin) / (2.0 * trips));
  }

  // Stores, puts, loads and gets 8 bytes. The second and the last reach `theirs`, a word of the
  // target's. False if a get has read what its owner had not written.
  bool add_accesses(tutti_group* group, int target, Word& theirs) {
    Word& data = lines_.data.value;
    uint64_t mine = 0;
    add("store", accessed(data, [&] { data.store(++mine, std::memory_order_relaxed); }));
    add("put", accessed(theirs, [&] {
          ++mine;
          tutti_put(group, target, &theirs, &mine, sizeof mine, nullptr);
        }));
    add("load", accessed(data, [&] { mine += data.load(std::memory_order_relaxed); }));
    add("get",
        accessed(theirs, [&] { tutti_get(group, target, &mine, &theirs, sizeof mine, nullptr); }));
    return me_ == 1 || mine == transfer_samples - 1;
  }

  // Puts and gets 8 bytes at a server, with their completion.
  void add_served(const char* put, const char* get, int count, double pause, tutti_group* group,
                  int target, Word& theirs) {
    uint64_t mine = 0;
    tutti_handle handle;
    const auto complete = [&] {
      for (int is_complete = 0; is_complete == 0;)
        require_ok(tutti_test(group, &handle, &is_complete));
    };
    add_transfers(put, count, pause, [&] {
      require_ok(tutti_put(group, target, &theirs, &mine, sizeof mine, &handle));
      complete();
    });
    add_transfers(get, count, pause, [&] {
      require_ok(tutti_get(group, target, &mine, &theirs, sizeof mine, &handle));
      complete();
    });
  }

  // The middle mean of so many transfers, each after a pause.
  template <class Transfer>
  void add_transfers(const char* call, int count, double pause, const Transfer& transfer) {
    std::vector<double> times;
    for (int i = 0; i < count; ++i) {
      for (const uint64_t begin = now(); pause > 0 && nanoseconds(now() - begin) < pause;)
        bench_pause();
      const uint64_t begin = now();
      transfer();
      times.push_back(nanoseconds(now() - begin));
    }
    add(call, middle_mean_of(times.data(), times.size()));
  }

  // Adds the row, at side 0.
  void add(const char* call, double time) const {
    if (me_ == 0) add_transfer(call, repetition_, time);
  }

 private:
  uint64_t now() const { return bench_now(&clock_); }
  double nanoseconds(uint64_t ticks) const {
    return static_cast<double>(ticks) / clock_.ticks_per_second * 1e9;
  }

  // At side 0: the middle mean of `access`, each after side 1 has rewritten the line, less that of
  // an empty one: reading the clock takes as long as a hand-over.
  template <class Access>
  double accessed(Word& line, const Access& access) {
    std::vector<double> empty, times;
    for (uint64_t i = 0; i < transfer_samples; ++i, turns_ += 2) {
      if (me_ == 1) {
        lines_.turn.await(turns_);
        line.store(i, std::memory_order_release);
        lines_.turn.tell(turns_ + 1);
        continue;
      }
      lines_.turn.await(turns_ + 1);
      const uint64_t idle = now();
      std::atomic_thread_fence(std::memory_order_seq_cst);
      const uint64_t begin = now();
      access();
      std::atomic_thread_fence(std::memory_order_seq_cst);
      times.push_back(nanoseconds(now() - begin));
      empty.push_back(nanoseconds(begin - idle));
      lines_.turn.tell(turns_ + 2);
    }
    if (me_ == 1) return lines_.turn.await(turns_), 0;
    return std::max(1.0,
                    middle_mean_of(times.data(), times.size()) -
                        middle_mean_of(empty.data(), empty.size()));  // the clock tells no less
  }

  Lines& lines_;
  const int me_;
  const BenchClock clock_;
  const int repetition_;
  uint64_t turns_ = 0;
};

}  // namespace tutti::bench
