// Learning, while a program runs, which transfers gain by servers, where no map says it; and how
// many consecutive ones a server should get, which no map between nodes says.
//
// A client's transfers come in phases: it starts some, and waits until all are complete. The class
// of a phase is the kind and the size of its first transfer, and how many its client is expected to
// start. All transfers of a phase go the same way: by the client, by servers that take turns, by
// servers and the client in turn, or by servers of which each gets a batch of consecutive ones. The
// phase's time counts for this way of its class. Each way is tried some times in turn. After that
// phases go the quickest way, apart from one in a while, because programs and networks change.
// Servers must save some of the time, because they take cores. A phase's time has the client's
// computation in it, which is the same for all ways, so the least time of each way is compared.
//
// The ideas are the threshold, the batches and the active clients of "Exploiting Communication
// Concurrency", sections 5 and 4.1; there they come from measurements before the program. Plain
// values; one thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "rma/policy.h"

namespace tutti::rma {

class Learning {
 public:
  using Clock = std::chrono::steady_clock;

  // For a client that may hand transfers to so many servers.
  explicit Learning(int32_t servers) : servers_(static_cast<uint32_t>(servers)) {}

  // A transfer starts. Returns how many consecutive ones a server should get; 0: it is the
  // client's. `for_servers`: the phase is not the client's, because a map says so; the client then
  // takes no turns either, as a map says nothing about them.
  uint32_t batch(const Situation& now, bool for_servers = false) {
    return batch(now, for_servers, [] { return Clock::now(); });
  }
  // True if the client takes turns like one more server in the phase of the last start.
  bool client_takes_turns() const { return takes_turns_; }
  // One of these transfers is complete.
  void end() {
    end([] { return Clock::now(); });
  }

  // The same by another clock, for tests.
  template <class Now>
  uint32_t batch(const Situation& now, bool for_servers, Now time) {
    if (under_way_ == 0) {
      class_ = &classes_[class_of(now)];
      const uint32_t batch = batch_of(now.waiting);
      way_ = choose(*class_, for_servers ? in_turn : by_client, batch > 1 ? ways : in_batches);
      const std::array<uint32_t, ways> batches{0, 1, 1, batch};  // in the order of the ways
      batch_ = batches[way_];
      // With fewer transfers the client would not have a turn in each phase.
      takes_turns_ = way_ == with_client && now.waiting > servers_;
      began_ = time();
      started_ = 0;
    }
    ++started_;
    ++under_way_;
    return batch_;
  }
  template <class Now>
  void end(Now time) {
    if (under_way_ == 0 || --under_way_ > 0) return;
    const std::chrono::duration<double> took = time() - began_;
    Way& way = class_->way[way_];
    way.least = std::min(way.least * forgets, took.count() / static_cast<double>(started_));
    if (way.phases < UINT32_MAX) ++way.phases;
  }

 private:
  static constexpr uint32_t tries = 8;          // so many phases go each way at first
  static constexpr uint32_t phases_a_try = 64;  // later
  static constexpr double least_gain = 1.05;
  static constexpr double forgets = 1.02;
  static constexpr size_t sizes = 12, counts = 8;

  enum : size_t { by_client, with_client, in_turn, in_batches, ways };

  struct Way {
    double least = 1e9;  // seconds a transfer
    uint32_t phases = 0;
  };
  struct Class {
    std::array<Way, ways> way{};
    uint32_t since_try = 0;
    size_t next_try = 0;
  };

  // Sizes differ by a factor of 4, and numbers of transfers by 2.
  static size_t class_of(const Situation& now) {
    const size_t size = std::min<size_t>(sizes - 1, std::bit_width(now.bytes) / 2);
    const size_t count = std::min<size_t>(counts, std::bit_width(now.waiting)) - 1;
    return ((is_put(now.kind) ? 0 : 1) * sizes + size) * counts + count;
  }
  // So that each server gets one batch of the transfers that are started together.
  uint32_t batch_of(size_t waiting) const {
    return static_cast<uint32_t>(std::clamp<size_t>(waiting / servers_, 1, most_batch));
  }
  // One of the ways from `begin` to before `end`.
  static size_t choose(Class& of, size_t begin, size_t end) {
    const auto at = [&](size_t way) { return of.way.begin() + static_cast<ptrdiff_t>(way); };
    const auto number = [&](auto way) { return static_cast<size_t>(way - of.way.begin()); };
    const auto least_tried = std::min_element(
        at(begin), at(end), [](const Way& a, const Way& b) { return a.phases < b.phases; });
    if (least_tried->phases < tries) return number(least_tried);
    if (++of.since_try >= phases_a_try) {
      of.since_try = 0;
      return begin + of.next_try++ % (end - begin);
    }
    const auto quickest =
        std::min_element(at(std::max<size_t>(begin, with_client)), at(end),
                         [](const Way& a, const Way& b) { return a.least < b.least; });
    const bool gains = quickest->least * least_gain < of.way[by_client].least;
    return begin == by_client && !gains ? by_client : number(quickest);
  }

  const uint32_t servers_;
  std::array<Class, 2 * sizes * counts> classes_{};
  Class* class_ = nullptr;  // the present phase's
  size_t way_ = by_client;
  uint32_t batch_ = 0;
  bool takes_turns_ = false;
  Clock::time_point began_;
  size_t started_ = 0, under_way_ = 0;
};

}  // namespace tutti::rma
