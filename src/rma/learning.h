// Learning, while a program runs, which transfers gain by servers, where no map says it.
//
// A client's transfers come in phases: it starts some, and waits until all are complete. The class
// of a phase is the kind and the size of its first transfer, and how many its client is expected to
// start. All transfers of a phase go the same way, by servers or by the client, and the phase's
// time counts for this way of its class. Each way is tried some times in turn. After that phases go
// the quicker way, apart from one in a while, because programs and networks change. Servers must
// save some of the time, because they take cores. A phase's time has the client's computation in
// it, which is the same for both ways, so the least time of each way is compared.
//
// The idea is the threshold of "Exploiting Communication Concurrency", section 5; there it comes
// from measurements before the program. Plain values; one thread at a time.
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

  // A transfer starts. True if a server should get it.
  bool hands(const Situation& now) {
    return hands(now, [] { return Clock::now(); });
  }
  // One of these transfers is complete.
  void end() {
    end([] { return Clock::now(); });
  }

  // The same by another clock, for tests.
  template <class Now>
  bool hands(const Situation& now, Now time) {
    if (under_way_ == 0) {
      class_ = &classes_[class_of(now)];
      by_servers_ = choose(*class_);
      began_ = time();
      started_ = 0;
    }
    ++started_;
    ++under_way_;
    return by_servers_;
  }
  template <class Now>
  void end(Now time) {
    if (under_way_ == 0 || --under_way_ > 0) return;
    const std::chrono::duration<double> took = time() - began_;
    Way& way = class_->ways[by_servers_ ? 1 : 0];
    way.least = std::min(way.least * forgets, took.count() / static_cast<double>(started_));
    if (way.phases < UINT32_MAX) ++way.phases;
  }

 private:
  static constexpr uint32_t tries = 8;          // so many phases go each way at first
  static constexpr uint32_t phases_a_try = 64;  // later
  static constexpr double least_gain = 1.05;
  static constexpr double forgets = 1.02;
  static constexpr size_t sizes = 12, counts = 8;

  struct Way {
    double least = 1e9;  // seconds a transfer
    uint32_t phases = 0;
  };
  struct Class {
    std::array<Way, 2> ways{};  // the client itself, servers
    uint32_t since_try = 0;
  };

  // Sizes differ by a factor of 4, and numbers of transfers by 2.
  static size_t class_of(const Situation& now) {
    const size_t size = std::min<size_t>(sizes - 1, std::bit_width(now.bytes) / 2);
    const size_t count = std::min<size_t>(counts, std::bit_width(now.waiting)) - 1;
    return ((now.kind == Kind::put ? 0 : 1) * sizes + size) * counts + count;
  }
  static bool choose(Class& of) {
    const Way &own = of.ways[0], &servers = of.ways[1];
    if (own.phases < tries || servers.phases < tries) return servers.phases < own.phases;
    const bool gains = servers.least * least_gain < own.least;
    if (++of.since_try < phases_a_try) return gains;
    of.since_try = 0;
    return !gains;
  }

  std::array<Class, 2 * sizes * counts> classes_{};
  Class* class_ = nullptr;  // the present phase's
  bool by_servers_ = false;
  Clock::time_point began_;
  size_t started_ = 0, under_way_ = 0;
};

}  // namespace tutti::rma
