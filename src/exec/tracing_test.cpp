// Records of the executor, by thread ranks that share one tracer.
#include <gtest/gtest.h>

#include <tuple>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <thread>
#include <vector>

#include "algo/algo.h"
#include "exec/test_plan_ranks.h"
#include "exec/program_text.h"

namespace tutti::exec {
namespace {

using plan::Carrier;
using plan::Collective;
using plan::Plan;
using trace::Kind;
using trace::Record;

uint32_t kind_of(const Record& record) { return record.what & 0xFF; }
uint32_t value_of(const Record& record) { return record.what >> 8; }

Combine sums() {
  return {kernels::find_reduce(kernels::Type::int64, kernels::Op::sum), nullptr, nullptr,
          sizeof(int64_t), true};
}

// Runs `operations` allreduces of `count` elements and returns the records by rank. Rank `late`
// comes to each after all others.
std::vector<std::vector<Record>> records_of(const Plan& plan, Carrier carrier, WaitStyle style,
                                            size_t count, size_t wanted_segment, int operations,
                                            int late = -1) {
  trace::Tracer tracer({.records = 1 << 16});
  PlanRanks ranks(plan, carrier, 65536, style, {}, &tracer);
  std::vector<std::vector<Record>> all(static_cast<size_t>(plan.ranks));
  const Combine how = sums();
  std::atomic<int> entered{0};
  ranks.spawn([&](int rank) {
    std::vector<int64_t> in(count, rank), out(count);
    for (int operation = 0; operation < operations; ++operation) {
      if (rank == late) {
        while (entered < (operation + 1) * (plan.ranks - 1)) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      } else {
        ++entered;
      }
      ASSERT_EQ(ranks.run(rank, in.data(), out.data(), count, how, wanted_segment, 0), Code::ok);
      ASSERT_EQ(out.back(), int64_t{plan.ranks} * (plan.ranks - 1) / 2);
    }
    const auto contents = tracer.ring().contents();
    all[static_cast<size_t>(rank)].assign(contents.first.begin(), contents.first.end());
  });
  return all;
}

// Splits a rank's records into operations; the last two of each are the pair.
std::vector<std::vector<Record>> operations_of(const std::vector<Record>& records) {
  std::vector<std::vector<Record>> operations(1);
  for (const Record& record : records) {
    operations.back().push_back(record);
    if (kind_of(record) == static_cast<uint32_t>(Kind::details)) operations.emplace_back();
  }
  operations.pop_back();
  return operations;
}

void expect_chain(const std::vector<Record>& operation) {
  const Record& pair = operation[operation.size() - 2];
  EXPECT_EQ(kind_of(pair), static_cast<uint32_t>(Kind::operation));
  EXPECT_EQ(pair.segment, operation.size() - 2);
  uint64_t last = pair.begin;
  for (size_t i = 0; i + 2 < operation.size(); ++i) {
    EXPECT_EQ(operation[i].begin, last);
    EXPECT_LE(operation[i].begin, operation[i].end);
    last = operation[i].end;
  }
  EXPECT_LE(last, pair.end);
}

class Traced : public testing::TestWithParam<std::tuple<Carrier, WaitStyle>> {};

TEST_P(Traced, EveryStepOfEveryOperation) {
  const auto [carrier, style] = GetParam();
  constexpr int operations = 5;
  const Plan plan = algo::generate(Collective::allreduce, "binomial", 3, 0);
  const size_t count = carrier == Carrier::line ? 4 : 3000;
  const auto all = records_of(plan, carrier, style, count, 2048, operations);
  for (int rank = 0; rank < plan.ranks; ++rank) {
    const plan::Program program = plan::lower(plan, rank, carrier);
    const auto found = operations_of(all[static_cast<size_t>(rank)]);
    ASSERT_EQ(found.size(), size_t{operations});
    for (size_t epoch = 0; epoch < found.size(); ++epoch) {
      expect_chain(found[epoch]);
      const Record& details = found[epoch].back();
      EXPECT_EQ(details.end, epoch);
      EXPECT_EQ(details.begin, count * sizeof(int64_t));
      EXPECT_EQ(details.segment > 1, carrier == Carrier::slot);
      std::map<uint32_t, uint32_t> times;
      for (size_t i = 0; i + 2 < found[epoch].size(); ++i) {
        const Record& record = found[epoch][i];
        if (kind_of(record) == static_cast<uint32_t>(Kind::make_room)) continue;
        ASSERT_LT(value_of(record), program.steps.size());
        const plan::Step& step = program.steps[value_of(record)];
        EXPECT_EQ(kind_of(record), static_cast<uint32_t>(step.kind));
        EXPECT_EQ(record.peer, step.peer);
        EXPECT_EQ(record.bytes > 0, step.operand_count > 0);
        ++times[value_of(record)];
      }
      const uint32_t positions = details.what >> 8;
      for (uint32_t i = 0; i < program.steps.size(); ++i) {
        const bool reuse = program.steps[i].kind == plan::StepKind::wait_reuse;
        const bool returns = program.steps[i].kind ==
                             plan::StepKind::wait_return;  // nobody reads others' buffers here
        uint32_t expected = details.segment;
        if (reuse) expected -= std::min(positions, details.segment);
        EXPECT_EQ(times[i], returns ? 0 : expected);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Traced,
                         testing::Combine(testing::Values(Carrier::line, Carrier::slot),
                                          testing::Values(WaitStyle::spin, WaitStyle::yield)));

// The late rank's peers wait for it inside their reduce_any, and the records say for whom.
TEST(TracedArrivals, TellWhoCameFirst) {
  Plan plan = algo::generate(Collective::allreduce, "flat", 4, 0);
  plan.commutative = true;
  for (plan::Transfer& transfer : plan.transfers)
    transfer.any_order = transfer.kind == plan::TransferKind::reduce;
  for (const Carrier carrier : {Carrier::line, Carrier::slot}) {
    const auto all = records_of(plan, carrier, WaitStyle::yield, 4, 0, 10, 2);
    int waited_for_late = 0, reduced = 0;
    for (const auto& operation : operations_of(all[0])) {
      expect_chain(operation);
      for (const Record& record : operation) {
        if (kind_of(record) == static_cast<uint32_t>(Kind::wait_arrival) && record.peer == 2)
          ++waited_for_late;
        if (kind_of(record) == static_cast<uint32_t>(plan::StepKind::reduce_any)) ++reduced;
      }
    }
    EXPECT_GE(waited_for_late, 1);  // one of ten: on a busy machine a peer may go on later still
    EXPECT_GE(reduced, 10);
  }
}

TEST(ProgramText, IsTheWholeProgram) {
  const plan::Program program =
      plan::lower(algo::generate(Collective::bcast, "flat", 2, 0), 1, Carrier::line);
  const std::string head =
      "{\"collective\":\"bcast\",\"algorithm\":\"flat\",\"ranks\":2,\"rank\":1,\"root\":0,"
      "\"blocks\":1,\"transfers\":2,\"stages\":2,\"carrier\":\"line\",\"steps\":";
  const trace::ProgramText text = program_text(program);
  EXPECT_EQ(text.whole,
            head + "[[1,1,1,0,0,0,0,1,0,0,[],[]],[3,1,2,1,-1,0,0,1,0,0,[1,1,0,0,3,0,0,0],[]]]}");
  EXPECT_EQ(text.without_steps, head + "null}");
}

}  // namespace
}  // namespace tutti::exec
