// Tests that the simulation accepts the programs that lowering writes, and finds each kind of fault
// that is made on purpose, everywhere in the programs of several plans.
#include "plan/simulate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "plan/test_broken_programs.h"
#include "plan/check.h"
#include "plan/lower.h"
#include "plan/test_random_plans.h"
#include "plan/text.h"

namespace tutti::plan {
namespace {

constexpr const char* flat_allreduce = R"(tutti-plan 1
collective allreduce
ranks 4
reduce out[0] <- in[0], in[1], in[2], in[3]
copy out[1] <- out[0]
copy out[2] <- out[0]
copy out[3] <- out[0]
)";

constexpr const char* tree_allreduce = R"(tutti-plan 1
collective allreduce
ranks 4
reduce tmp[2] <- in[2], in[3]
reduce out[0] <- in[0], in[1], tmp[2]
copy out[2] <- out[0]
copy out[1] <- out[0]
copy out[3] <- out[2]
)";

constexpr const char* tiled_allreduce = R"(tutti-plan 1
collective allreduce
ranks 2
blocks 4
reduce tmp[0].0+2 <- in[0].0+2, in[1].0+2
reduce tmp[1].0+2 <- in[0].2+2, in[1].2+2
copy out[0].0+2 <- tmp[0].0+2
copy out[0].2+2 <- tmp[1].0+2
copy out[1].0+2 <- tmp[0].0+2
copy out[1].2+2 <- tmp[1].0+2
)";

constexpr const char* chain_bcast = R"(tutti-plan 1
collective bcast
ranks 3
root 1
push tmp[2] <- in[1]
copy out[2] <- tmp[2]
copy out[0] <- tmp[2]
)";

constexpr const char* barrier = R"(tutti-plan 1
collective barrier
ranks 3
reduce out[1] <- in[0], in[1], in[2]
copy out[0] <- out[1]
copy out[2] <- out[1]
)";

// Rank 2 copies after rank 1, and in the next segment rank 1 copies after rank 2.
constexpr const char* token_bcast = R"(tutti-plan 1
collective bcast
ranks 3
token @0 1 <- 2
copy @0 out[1] <- in[0]
token @0 2 <- 1
copy @0 out[2] <- in[0]
)";

const std::vector<const char*> texts = {flat_allreduce, tree_allreduce, tiled_allreduce,
                                        chain_bcast,    barrier,        any_order_allreduce,
                                        token_bcast};

void before_the_movement(Program& program, size_t step) {
  if (step > 0) std::swap(program.steps[step - 1], program.steps[step]);
}

// True if a rank waits for the data, and not only for the ring position, which other waits may
// imply to be free.
bool data_is_awaited(const std::vector<Program>& programs, const Step& announcement) {
  for (const Program& program : programs) {
    for (const Step& step : program.steps) {
      if (step.kind != StepKind::wait_word && step.kind != StepKind::wait_line) continue;
      if (step.number == announcement.number) return true;
    }
    for (const Arrival& arrival : program.arrivals) {
      if (arrival.peer >= 0 && arrival.number == announcement.number) return true;
    }
  }
  return false;
}

TEST(Simulate, RightProgramsPass) {
  for (const char* text : texts) {
    const Plan plan = read(text);
    for (int segments : {1, 2, 5}) {
      for (int positions : {0, 1, 2, 8}) {
        EXPECT_EQ(fault(plan, programs_of(plan, Carrier::slot), {segments, positions, 4, 10, 3}),
                  "")
            << text;
      }
    }
    if (!lines_serve(stage(plan))) continue;
    EXPECT_EQ(fault(plan, programs_of(plan, Carrier::line), {1, 0, 6, 10, 4}), "") << text;
  }
}

TEST(Simulate, EveryWaitThatIsDroppedIsFound) {
  for (const char* text : texts) {
    const Plan plan = read(text);
    const Outcome slots = break_each(plan, Carrier::slot, StepKind::wait_word, one_segment, drop);
    EXPECT_GT(slots.found, 0);
    EXPECT_EQ(slots.missed, 0) << slots.first_missed;
    if (!lines_serve(stage(plan))) continue;
    const Outcome lines = break_each(plan, Carrier::line, StepKind::wait_line, one_segment, drop);
    EXPECT_GT(lines.found, 0);
    EXPECT_EQ(lines.missed, 0) << lines.first_missed;
  }
}

TEST(Simulate, EveryReturnWithoutItsReadersIsFound) {
  int found = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Plan plan = RandomPlan(seed, 5).make();
    const Outcome slots =
        break_each(plan, Carrier::slot, StepKind::wait_return, {2, 0, 3, 6, seed}, drop);
    ASSERT_EQ(slots.missed, 0) << "seed " << seed << "\n" << slots.first_missed;
    found += slots.found;
  }
  EXPECT_GT(found, 100);
  const Plan plan = read("tutti-plan 1\ncollective bcast\nranks 2\nroot 1\ncopy out[0] <- in[1]\n");
  const std::string last =
      break_each(plan, Carrier::slot, StepKind::wait_return, few_positions, drop).last;
  EXPECT_NE(last.find("its user has in[1].0 while it is in use by step"), std::string::npos)
      << last;
}

TEST(Simulate, AReadPastAnOfferThatIsOverwrittenIsFound) {
  const Plan plan = read(tiled_allreduce);
  std::vector<Program> programs = programs_of(plan, Carrier::slot);
  for (Program& program : programs) {
    for (Operand& operand : program.operands) operand.bypass_space = Space::out;
  }
  EXPECT_NE(fault(plan, programs, few_positions), "");
}

TEST(Simulate, EveryWaitThatIsDroppedFromRandomPlansIsFound) {
  int found = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    Plan plan = RandomPlan(seed, 5).make();
    if (plan.collective == Collective::barrier)
      continue;  // its exits may depend on an arrival in several ways
    // Another wait may imply the wait of a token before the rank does anything.
    std::erase_if(plan.transfers,
                  [](const Transfer& transfer) { return transfer.kind == TransferKind::token; });
    const Outcome slots =
        break_each(plan, Carrier::slot, StepKind::wait_word, {1, 1, 2, 1, seed, false}, drop);
    ASSERT_EQ(slots.missed, 0) << "seed " << seed << "\n" << slots.first_missed;
    found += slots.found;
    if (!lines_serve(stage(plan))) continue;
    const Outcome lines =
        break_each(plan, Carrier::line, StepKind::wait_line, {1, 1, 2, 1, seed}, drop);
    ASSERT_EQ(lines.missed, 0) << "seed " << seed << "\n" << lines.first_missed;
    found += lines.found;
  }
  EXPECT_GT(found, 300);
}

TEST(Simulate, ATokenForTheSegmentBeforeThatIsDroppedIsFound) {
  const Plan plan = read(token_bcast);
  // Each segment has a position of its own, so that no wait for a position implies the token's
  // wait.
  const Simulation how{7, 7, 2, 4, 6};
  const Outcome outcome = break_each(plan, Carrier::slot, StepKind::wait_before, how, drop);
  EXPECT_EQ(outcome.found, 1) << outcome.first_missed;
  EXPECT_NE(outcome.last.find("rank 2 has done transfer 5 of the segment before"),
            std::string::npos)
      << outcome.last;
  // No other step waits for the same transfer, so its publication serves the token only.
  const Outcome silent = break_each(plan, Carrier::slot, StepKind::publish, how, drop);
  EXPECT_EQ(silent.missed, 0) << silent.first_missed;
}

TEST(Simulate, AReuseWaitThatIsDroppedIsFound) {
  // Only these waits order the root after the reads of its slot.
  const Plan bcast =
      read("tutti-plan 1\ncollective bcast\nranks 3\ncopy out[1] <- in[0]\ncopy out[2] <- in[0]\n");
  const Outcome outcome =
      break_each(bcast, Carrier::slot, StepKind::wait_reuse, few_positions, drop);
  EXPECT_EQ(outcome.found, 2);
  EXPECT_EQ(outcome.missed, 0) << outcome.first_missed;
  EXPECT_NE(outcome.last.find("not ordered after"), std::string::npos) << outcome.last;
  const Outcome chain =
      break_each(read(chain_bcast), Carrier::slot, StepKind::wait_reuse, few_positions, drop);
  EXPECT_GT(chain.found, 0);
}

TEST(Simulate, AnnouncingTooEarlyIsFound) {
  for (const char* text : texts) {
    const Plan plan = read(text);
    if (plan.collective == Collective::barrier) continue;  // no movement
    const Outcome slots = break_each(plan, Carrier::slot, StepKind::publish, few_positions,
                                     before_the_movement, data_is_awaited);
    EXPECT_GT(slots.found, 0);
    EXPECT_EQ(slots.missed, 0) << slots.first_missed;
    if (!lines_serve(stage(plan))) continue;
    const Outcome lines =
        break_each(plan, Carrier::line, StepKind::stamp, one_segment, before_the_movement);
    EXPECT_GT(lines.found, 0);
    EXPECT_EQ(lines.missed, 0) << lines.first_missed;
  }
}

TEST(Simulate, ABarrierThatDoesNotWaitForAllIsFound) {
  for (Carrier carrier : {Carrier::slot, Carrier::line}) {
    const StepKind kind = carrier == Carrier::slot ? StepKind::wait_word : StepKind::wait_line;
    const Outcome outcome = break_each(read(barrier), carrier, kind, one_segment, drop);
    EXPECT_EQ(outcome.found, 4);
    EXPECT_NE(outcome.last.find("without knowing that rank"), std::string::npos) << outcome.last;
  }
}

TEST(Simulate, AStampThatIsMissingLeavesRanksWaiting) {
  for (const char* text : texts) {
    const Plan plan = read(text);
    if (!lines_serve(stage(plan))) continue;
    const Outcome outcome = break_each(plan, Carrier::line, StepKind::stamp, one_segment, drop);
    EXPECT_GT(outcome.found, 0);
    EXPECT_EQ(outcome.missed, 0) << outcome.first_missed;
    EXPECT_NE(outcome.last.find("wait for ever"), std::string::npos) << outcome.last;
  }
}

TEST(Simulate, APublicationThatIsMissingLeavesRanksWaiting) {
  // Rank 1 publishes its data, then waits for the result, which depends on the data.
  const Plan plan = read(flat_allreduce);
  std::vector<Program> programs = programs_of(plan, Carrier::slot);
  auto& steps = programs[1].steps;
  const auto publish = std::find_if(steps.begin(), steps.end(),
                                    [](const Step& s) { return s.kind == StepKind::publish; });
  ASSERT_NE(publish, steps.end());
  steps.erase(publish);
  EXPECT_NE(fault(plan, programs, one_segment).find("wait for ever"), std::string::npos);
}

TEST(Simulate, AMovementThatIsDroppedIsFound) {
  for (const char* text : texts) {
    const Plan plan = read(text);
    if (plan.collective == Collective::barrier) continue;
    for (StepKind kind : {StepKind::copy, StepKind::reduce}) {
      const Outcome outcome = break_each(plan, Carrier::slot, kind, one_segment, drop);
      EXPECT_EQ(outcome.missed, 0) << outcome.first_missed;
    }
  }
}

TEST(Simulate, AMovementOfAnotherBlockIsFound) {
  const Plan plan = read(tiled_allreduce);
  for (StepKind kind : {StepKind::copy, StepKind::reduce}) {
    const auto shift_source = [](Program& program, size_t step) {
      program.operands[program.steps[step].first_operand + 1].block ^= 1;
    };
    const auto shift_lengths = [](Program& program, size_t step) {
      program.steps[step].extent_first ^= 1;
    };
    for (const Break& break_it : {Break(shift_source), Break(shift_lengths)}) {
      const Outcome outcome = break_each(plan, Carrier::slot, kind, one_segment, break_it);
      EXPECT_GT(outcome.found, 0);
      EXPECT_EQ(outcome.missed, 0) << outcome.first_missed;
    }
  }
}

TEST(Simulate, SourcesInAnotherOrderAreFound) {
  const Plan plan = read(tree_allreduce);
  const auto swap_sources = [](Program& program, size_t step) {
    const int32_t first = program.steps[step].first_operand;
    std::swap(program.operands[first + 1], program.operands[first + 2]);
  };
  const Outcome outcome =
      break_each(plan, Carrier::slot, StepKind::reduce, one_segment, swap_sources);
  EXPECT_EQ(outcome.found, 2);
  EXPECT_EQ(outcome.missed, 0);
}

TEST(Simulate, AWaitForALaterTransferBreaksTheTotalOrder) {
  const Plan plan = read(flat_allreduce);
  const auto wait_for_the_last = [](Program& program, size_t step) {
    program.steps[step].number = program.transfers;
    program.steps[step].number_stage = program.stages - 1;
  };
  const Outcome outcome =
      break_each(plan, Carrier::slot, StepKind::wait_word, one_segment, wait_for_the_last);
  EXPECT_EQ(outcome.missed, 0) << outcome.first_missed;
  EXPECT_NE(outcome.last.find("not less than"), std::string::npos) << outcome.last;
}

TEST(Simulate, TooFewPositionsBreakTheTotalOrder) {
  // The slot of rank 1 is read again two hand-overs after it is written.
  const Plan plan = read(
      "tutti-plan 1\ncollective allreduce\nranks 3\ncopy tmp[1] <- in[1]\nreduce tmp[0] <- in[0], "
      "tmp[1]\n"
      "copy tmp[2] <- tmp[0]\nreduce out[2] <- tmp[2], in[2]\ncopy out[0] <- out[2]\ncopy out[1] "
      "<- out[2]\n"
      "copy tmp[2].1 <- tmp[1]\n");
  std::vector<Program> programs = programs_of(plan, Carrier::slot);
  EXPECT_EQ(fault(plan, programs, few_positions), "");
  ASSERT_GT(programs.front().min_positions, 1);
  for (Program& program : programs) program.min_positions = 1;
  EXPECT_NE(fault(plan, programs, few_positions).find("not less than"), std::string::npos);
}

TEST(Simulate, WrongClaimsOfAProgramAreFound) {
  const Plan reduce =
      read("tutti-plan 1\ncollective reduce\nranks 2\nreduce out[0] <- in[0], in[1]\n");
  std::vector<Program> programs = programs_of(reduce, Carrier::slot);
  EXPECT_EQ(fault(reduce, programs, one_segment), "");
  programs[1].knows_all = true;  // rank 1 hands its data over and waits for no rank
  EXPECT_NE(fault(reduce, programs, one_segment).find("without knowing that rank 0"),
            std::string::npos);
  programs = programs_of(reduce, Carrier::slot);
  programs[1].writes_shared = false;
  EXPECT_NE(fault(reduce, programs, one_segment).find("says that it does not"), std::string::npos);

  const Plan overwrites = read(
      "tutti-plan 1\ncollective allreduce\nranks 2\ncopy out[0] <- in[1]\nreduce tmp[0] <- in[0], "
      "out[0]\n"
      "copy out[0] <- tmp[0]\ncopy out[1] <- tmp[0]\n");
  ASSERT_FALSE(check(overwrites).in_place);
  programs = programs_of(overwrites, Carrier::slot);
  EXPECT_EQ(fault(overwrites, programs, one_segment), "");
  for (Program& program : programs) program.in_place = true;
  EXPECT_NE(fault(overwrites, programs, one_segment).find("in place"), std::string::npos);
}

TEST(Simulate, ProgramsThatDoNotBelongTogetherAreRefused) {
  const Plan plan = read(flat_allreduce);
  std::vector<Program> programs = programs_of(plan, Carrier::slot);
  std::swap(programs[0], programs[1]);
  EXPECT_NE(fault(plan, programs, one_segment), "");
  std::swap(programs[0], programs[1]);
  programs.pop_back();
  EXPECT_NE(fault(plan, programs, one_segment), "");
}

}  // namespace
}  // namespace tutti::plan
