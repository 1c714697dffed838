// Tests that the simulation finds the faults of reductions in the order of arrival that are broken
// on purpose.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "plan/test_broken_programs.h"
#include "plan/lower.h"
#include "plan/test_random_plans.h"
#include "plan/simulate.h"
#include "plan/text.h"

namespace tutti::plan {
namespace {

// Breaks each arrival of another rank's data, one at a time, in each program.
Outcome break_each_arrival(const Plan& plan, Carrier carrier, const Simulation& how,
                           const std::function<void(Program&, Arrival&)>& break_it) {
  const std::vector<Program> right = programs_of(plan, carrier);
  EXPECT_EQ(fault(plan, right, how), "");
  Outcome outcome;
  for (size_t rank = 0; rank < right.size(); ++rank) {
    for (size_t i = 0; i < right[rank].arrivals.size(); ++i) {
      if (right[rank].arrivals[i].peer < 0) continue;
      std::vector<Program> broken = right;
      break_it(broken[rank], broken[rank].arrivals[i]);
      const std::string message = fault(plan, broken, how);
      (message.empty() ? outcome.missed : outcome.found) += 1;
      if (message.empty()) outcome.first_missed = print(plan) + print(right[rank]);
      if (!message.empty()) outcome.last = message;
    }
  }
  return outcome;
}

constexpr const char* any_order_reduce =
    "tutti-plan 1\ncollective reduce\nranks 4\ncommutative yes\nreduce any out[0] <- in[1], in[2], "
    "in[0], in[3]\n";

// Two sources, one of which implies the other, because rank 2 has read the data of rank 1.
constexpr const char* any_order_of_a_chain = R"(tutti-plan 1
collective reduce
ranks 3
commutative yes
copy @0 tmp[1] <- in[1]
copy @1 tmp[2].1 <- tmp[1]
copy @1 tmp[2] <- in[2]
reduce any @2 out[0] <- tmp[2], tmp[1], in[0]
)";

TEST(SimulateArrivals, ASourceTakenBeforeItArrivesIsFound) {
  const auto take_at_once = [](Program&, Arrival& arrival) { arrival.peer = -1; };
  for (const char* text : {any_order_reduce, any_order_allreduce, any_order_of_a_chain}) {
    for (Carrier carrier : {Carrier::slot, Carrier::line}) {
      const Outcome outcome = break_each_arrival(read(text), carrier, one_segment, take_at_once);
      EXPECT_GE(outcome.found, 2) << text;
      EXPECT_EQ(outcome.missed, 0) << outcome.first_missed;
    }
  }
}

TEST(SimulateArrivals, ASourceTakenBeforeItArrivesIsFoundInRandomPlans) {
  int found = 0;
  const auto take_at_once = [](Program&, Arrival& arrival) { arrival.peer = -1; };
  for (uint64_t seed = 0; seed < 600; ++seed) {
    const Plan plan = RandomPlan(seed, 5).make();
    const bool lines = lines_serve(stage(plan));
    const Outcome outcome = break_each_arrival(plan, lines ? Carrier::line : Carrier::slot,
                                               {1, 1, 2, 6, seed}, take_at_once);
    ASSERT_EQ(outcome.missed, 0) << "seed " << seed << "\n" << outcome.first_missed;
    found += outcome.found;
  }
  EXPECT_GT(found, 100);
}

// In a fixed order, a wait may be left out because another wait implies it. An arrival must not be
// left out for that reason.
TEST(SimulateArrivals, AnArrivalThatStandsForAnotherIsFound) {
  const Plan plan = read(any_order_of_a_chain);
  for (Carrier carrier : {Carrier::slot, Carrier::line}) {
    std::vector<Program> programs = programs_of(plan, carrier);
    EXPECT_EQ(fault(plan, programs, one_segment), "");
    ASSERT_EQ(programs[0].arrivals.size(), 3u);
    EXPECT_EQ(programs[0].arrivals[0].peer, 2);
    EXPECT_EQ(programs[0].arrivals[1].peer, 1);
    EXPECT_EQ(programs[0].arrivals[2].peer, -1);
    programs[0].arrivals[1] = programs[0].arrivals[0];
    // This is right, though slower: when the data of rank 2 is there, that of rank 1 is, too.
    EXPECT_EQ(fault(plan, programs, one_segment), "");
    programs[0].arrivals[1].peer = -1;
    EXPECT_NE(fault(plan, programs, one_segment), "");
  }
}

TEST(SimulateArrivals, ArrivalsOfEachOthersSourcesAreFound) {
  for (Carrier carrier : {Carrier::slot, Carrier::line}) {
    const Plan plan = read(any_order_reduce);
    std::vector<Program> programs = programs_of(plan, carrier);
    std::swap(programs[0].arrivals[0], programs[0].arrivals[1]);
    EXPECT_NE(fault(plan, programs, one_segment), "");
  }
}

TEST(SimulateArrivals, AnArrivalOfALaterTransferBreaksTheTotalOrder) {
  const auto later = [](Program& program, Arrival& arrival) {
    arrival.number = program.transfers;
    arrival.number_stage = program.stages - 1;
  };
  const Outcome outcome =
      break_each_arrival(read(any_order_reduce), Carrier::slot, one_segment, later);
  EXPECT_EQ(outcome.missed, 0) << outcome.first_missed;
  EXPECT_NE(outcome.last.find("not less than"), std::string::npos) << outcome.last;
}

TEST(SimulateArrivals, ArrivalsThatAreMissingAltogetherAreFound) {
  const Plan plan = read(any_order_reduce);
  std::vector<Program> programs = programs_of(plan, Carrier::slot);
  programs[0].arrivals.pop_back();
  EXPECT_NE(fault(plan, programs, one_segment).find("fewer arrivals than sources"),
            std::string::npos);
}

TEST(SimulateArrivals, ASourceThatNeverArrivesLeavesItsReaderWaiting) {
  const Plan plan = read(any_order_reduce);
  for (Carrier carrier : {Carrier::slot, Carrier::line}) {
    std::vector<Program> programs = programs_of(plan, carrier);
    auto& steps = programs[2].steps;
    std::erase_if(steps, [](const Step& step) {
      return step.kind == StepKind::publish || step.kind == StepKind::stamp;
    });
    // Over slots, the word that ends the operation also makes the source ready.
    const std::string message = fault(plan, programs, one_segment);
    EXPECT_EQ(message.find("wait for ever") != std::string::npos, carrier == Carrier::line)
        << message;
  }
}

TEST(SimulateArrivals, ADestinationThatIsAnotherSourceIsFound) {
  // The partial result overwrites the data of rank 1, which is lost if it is taken second.
  const Plan plan = read(any_order_reduce);
  std::vector<Program> programs = programs_of(plan, Carrier::slot);
  const Step& step = programs[0].steps.front();
  ASSERT_EQ(step.kind, StepKind::reduce_any);
  programs[0].operands[static_cast<size_t>(step.first_operand)] =
      programs[0].operands[static_cast<size_t>(step.first_operand) + 1];
  programs[0].writes_shared = true;
  EXPECT_NE(fault(plan, programs, one_segment).find("waits for its own destination"),
            std::string::npos);
}

// A slot that a reduce_any has read may be written again only when the reader has published.
TEST(SimulateArrivals, AReuseWaitForAReductionInAnyOrderThatIsDroppedIsFound) {
  const Outcome outcome =
      break_each(read(any_order_reduce), Carrier::slot, StepKind::wait_reuse, few_positions, drop);
  EXPECT_EQ(outcome.found, 3);
  EXPECT_EQ(outcome.missed, 0) << outcome.first_missed;
  EXPECT_NE(outcome.last.find("not ordered after"), std::string::npos) << outcome.last;
  // The reader must not publish before it has taken the last source.
  const Plan plan = read(any_order_reduce);
  std::vector<Program> programs = programs_of(plan, Carrier::slot);
  std::vector<Step>& steps = programs[0].steps;
  ASSERT_EQ(steps.back().kind, StepKind::publish);
  std::swap(steps[steps.size() - 2], steps.back());
  EXPECT_NE(fault(plan, programs, few_positions).find("not ordered after"), std::string::npos);
}

TEST(SimulateArrivals, AnOrderOfArrivalWhereThePlanHasAFixedOneIsFound) {
  const Plan plan = read(
      "tutti-plan 1\ncollective reduce\nranks 2\ncommutative yes\nreduce out[0] <- in[0], in[1]\n");
  const Plan any = read(
      "tutti-plan 1\ncollective reduce\nranks 2\ncommutative yes\nreduce any out[0] <- in[0], "
      "in[1]\n");
  EXPECT_NE(fault(plan, programs_of(any, Carrier::slot), one_segment).find("with a wrong block 0"),
            std::string::npos);
}

}  // namespace
}  // namespace tutti::plan
