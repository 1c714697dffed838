// Reductions in the order of arrival, run on thread ranks of which one is late each time.
#include "exec/arrival.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <tuple>

#include "algo/algo.h"
#include "exec/test_plan_ranks.h"

namespace tutti::exec {
namespace {

using plan::Carrier;
using plan::Collective;
using plan::Plan;

Plan any_order(Plan plan) {
  plan.commutative = true;
  for (plan::Transfer& transfer : plan.transfers) {
    transfer.any_order = transfer.kind == plan::TransferKind::reduce && !transfer.push;
  }
  return plan;
}

Plan generated(Collective collective, const char* algorithm, int ranks, int root = 0) {
  return any_order(algo::generate(collective, algorithm, ranks, root));
}

// An element of a user's operation: sums one half, excludes in the other.
struct Pair {
  int64_t sum;
  uint64_t parity;
  bool operator==(const Pair&) const = default;
};

Pair value(int operation, int rank, size_t element) {
  const auto mixed = static_cast<uint64_t>(operation) * 1000003u +
                     static_cast<uint64_t>(rank) * 8191u + element * 31u;
  return {static_cast<int64_t>(mixed % 100000u), mixed * 0x9E3779B97F4A7C15u};
}

void apply_pairs(void*, const void* in, void* inout, size_t count) {
  const auto* from = static_cast<const Pair*>(in);
  auto* to = static_cast<Pair*>(inout);
  for (size_t i = 0; i < count; ++i)
    to[i] = {from[i].sum + to[i].sum, from[i].parity ^ to[i].parity};
}

Combine pairs_by_user() { return {nullptr, &apply_pairs, nullptr, sizeof(Pair), true}; }
Combine sums_by_kernel() {
  return {kernels::find_reduce(kernels::Type::int64, kernels::Op::sum), nullptr, nullptr,
          sizeof(int64_t), true};
}

// The input of all ranks together, and of one rank, as bytes of the operation's elements.
std::vector<std::byte> bytes_of(const Combine& how, int operation, int low, int high,
                                size_t count) {
  std::vector<std::byte> bytes(count * how.element);
  for (size_t i = 0; i < count; ++i) {
    Pair total{0, 0};
    for (int rank = low; rank < high; ++rank) {
      const Pair one = value(operation, rank, i);
      total = {total.sum + one.sum, total.parity ^ one.parity};
    }
    std::memcpy(&bytes[i * how.element], &total, how.element);
  }
  return bytes;
}

void be_late(int operation, int rank, int ranks) {
  std::mt19937 random(static_cast<unsigned>(operation));
  if (static_cast<int>(random() % static_cast<unsigned>(ranks)) != rank) return;
  std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
}

// Operations of several sizes, each with one rank late, every other rank in place.
void run_operations(PlanRanks& group, int rank, int root, Collective collective,
                    const std::vector<size_t>& counts, const Combine& how) {
  int operation = 0;
  for (size_t count : counts) {
    for (int repeat = 0; repeat < 12; ++repeat, ++operation) {
      std::vector<std::byte> in = bytes_of(how, operation, rank, rank + 1, count);
      std::vector<std::byte> separate(in.size());
      const bool in_place = (rank + repeat) % 2 == 0 && group.program(rank).program->in_place;
      std::vector<std::byte>& out = in_place ? in : separate;
      be_late(operation, rank, group.ranks());
      ASSERT_EQ(group.run(rank, in.data(), out.data(), count, how, 1024, root), Code::ok)
          << group.channel(rank).failure();
      if (collective == Collective::reduce && rank != root) continue;
      ASSERT_EQ(out, bytes_of(how, operation, 0, group.ranks(), count))
          << "count " << count << " operation " << operation;
    }
  }
}

class Arrivals : public testing::TestWithParam<std::tuple<const char*, int>> {
 protected:
  void over_slots(Collective collective, const Combine& how, const std::vector<size_t>& counts) {
    const auto [algorithm, ranks] = GetParam();
    const int root = collective == Collective::reduce ? ranks / 2 : 0;
    const Plan plan = generated(collective, algorithm, ranks, root);
    const WaitStyle style = ranks <= 3 ? WaitStyle::spin : WaitStyle::yield;
    PlanRanks group(plan, Carrier::slot, 32 * 1024, style);
    ASSERT_FALSE(group.program(root).program->arrivals.empty());
    group.spawn([&](int rank) { run_operations(group, rank, root, collective, counts, how); });
  }
};

TEST_P(Arrivals, ReduceByKernel) {
  over_slots(Collective::reduce, sums_by_kernel(), {0, 1, 7, 500, 3000});
}
TEST_P(Arrivals, ReduceByUser) {
  over_slots(Collective::reduce, pairs_by_user(), {0, 1, 7, 300, 1500});
}
TEST_P(Arrivals, AllreduceByKernel) {
  over_slots(Collective::allreduce, sums_by_kernel(), {0, 1, 7, 500, 3000});
}
TEST_P(Arrivals, AllreduceByUser) {
  over_slots(Collective::allreduce, pairs_by_user(), {0, 1, 7, 300, 1500});
}

TEST_P(Arrivals, OverLines) {
  const auto [algorithm, ranks] = GetParam();
  for (const Combine& how : {sums_by_kernel(), pairs_by_user()}) {
    for (WaitStyle style : {WaitStyle::spin, WaitStyle::yield}) {
      if (style == WaitStyle::spin && ranks > 4) continue;
      const Plan plan = generated(Collective::allreduce, algorithm, ranks);
      PlanRanks group(plan, Carrier::line, 32 * 1024, style);
      group.spawn([&](int rank) {
        run_operations(group, rank, 0, Collective::allreduce, {0, 1, 2, 3}, how);
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Trees, Arrivals,
                         testing::Combine(testing::Values("flat", "binomial", "nary:3"),
                                          testing::Values(2, 3, 4, 5, 8, 13)));

// Every rank reduces for itself, a tile of the vector or all of it.
class ArrivalsEverywhere : public Arrivals {};

TEST_P(ArrivalsEverywhere, AllreduceByKernel) {
  over_slots(Collective::allreduce, sums_by_kernel(), {0, 1, 7, 500, 3000});
}
TEST_P(ArrivalsEverywhere, AllreduceByUser) {
  over_slots(Collective::allreduce, pairs_by_user(), {0, 1, 7, 300, 1500});
}

INSTANTIATE_TEST_SUITE_P(Plans, ArrivalsEverywhere,
                         testing::Combine(testing::Values("tiled", "all_read_all"),
                                          testing::Values(2, 3, 5, 8, 13)));

// More sources than are gathered on the stack.
TEST(Arrival, OfManySources) {
  const Plan plan = generated(Collective::allreduce, "flat", 80);
  PlanRanks group(plan, Carrier::slot, 32 * 1024, WaitStyle::yield);
  group.spawn([&](int rank) {
    run_operations(group, rank, 0, Collective::allreduce, {300}, sums_by_kernel());
  });
}

// Rank 1 comes only when rank 0 has combined what the others gave: in the order of the sources that
// would be never.
class LateFirstSource : public testing::TestWithParam<std::tuple<Carrier, WaitStyle>> {};

TEST_P(LateFirstSource, IsNotWaitedForFirst) {
  const auto [carrier, style] = GetParam();
  const int ranks = 4;
  Plan plan;
  plan.collective = Collective::reduce;
  plan.ranks = ranks;
  plan.commutative = true;
  plan.reduce_any(plan::out(0), {plan::in(1), plan::in(0), plan::in(2), plan::in(3)});
  PlanRanks group(plan, carrier, 32 * 1024, style);
  std::atomic<bool> combined{false};
  Combine how = pairs_by_user();
  how.context = &combined;
  how.apply = [](void* context, const void* in, void* inout, size_t count) {
    apply_pairs(nullptr, in, inout, count);
    static_cast<std::atomic<bool>*>(context)->store(true);
  };
  const size_t count = carrier == Carrier::line ? 2 : 100;
  group.spawn([&](int rank) {
    const std::vector<std::byte> in = bytes_of(how, 0, rank, rank + 1, count);
    std::vector<std::byte> out(in.size());
    while (rank == 1 && !combined) std::this_thread::yield();
    ASSERT_EQ(group.run(rank, in.data(), out.data(), count, how, 0, 0), Code::ok)
        << group.channel(rank).failure();
    if (rank == 0) {
      ASSERT_EQ(out, bytes_of(how, 0, 0, ranks, count));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ways, LateFirstSource,
                         testing::Combine(testing::Values(Carrier::line, Carrier::slot),
                                          testing::Values(WaitStyle::spin, WaitStyle::yield)));

TEST(Arrival, MismatchedCallsAreNamed) {
  for (Carrier carrier : {Carrier::line, Carrier::slot}) {
    for (WaitStyle style : {WaitStyle::spin, WaitStyle::yield}) {
      PlanRanks group(generated(Collective::reduce, "flat", 3), carrier, 32 * 1024, style);
      group.spawn([&](int rank) {
        const int64_t in[4] = {};
        int64_t out[4];
        const Code code = group.run(rank, in, out, rank == 2 ? 3 : 2, sums_by_kernel(), 0, 0);
        EXPECT_EQ(code, rank == 0 ? Code::mismatch : Code::ok);
      });
      EXPECT_NE(group.channel(0).failure().find("rank 2 called reduce of 24 bytes"),
                std::string::npos)
          << group.channel(0).failure();
    }
  }
}

TEST(Arrival, ADeadPeerIsNoticedAmongThoseThatLive) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_GT(child, 0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  const auto own = static_cast<uint64_t>(getpid());
  for (WaitStyle style : {WaitStyle::spin, WaitStyle::yield}) {
    Plan plan;
    plan.collective = Collective::reduce;
    plan.ranks = 4;
    plan.commutative = true;
    plan.reduce_any(plan::out(0), {plan::in(0), plan::in(1), plan::in(2), plan::in(3)});
    PlanRanks group(plan, Carrier::slot, 32 * 1024, style,
                    {own, own, static_cast<uint64_t>(child), own});
    group.spawn([&](int rank) {
      if (rank == 2) return;
      const std::vector<int64_t> in(100, rank);
      std::vector<int64_t> out(100);
      const Code code = group.run(rank, in.data(), out.data(), 100, sums_by_kernel(), 0, 0);
      EXPECT_EQ(code, rank == 0 ? Code::dead_peer : Code::ok);
    });
    EXPECT_NE(
        group.channel(0).failure().find("rank 2 (process " + std::to_string(child) + ") is gone"),
        std::string::npos)
        << group.channel(0).failure();
  }
}

}  // namespace
}  // namespace tutti::exec
