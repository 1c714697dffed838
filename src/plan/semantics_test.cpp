// Compares the rules of steps with numbers that were worked out by hand from docs/memory-model.md.
#include "plan/semantics.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "plan/lower.h"
#include "plan/text.h"

namespace tutti::plan {
namespace {

constexpr Segments seven_in_three{.count = 7, .positions = 3};

// A program of 10 transfers whose only step is for transfer 4 at stage 2.
Program program_of(StepKind kind) {
  Program program;
  program.transfers = 10;
  program.stages = 5;
  Step step;
  step.kind = kind;
  step.stage = 3;
  step.number = 4;
  step.number_stage = 2;
  step.peer = 6;
  program.steps = {step};
  return program;
}

// The numbers that the step awaits in segments 0 to 6; -1: none.
std::vector<int64_t> awaited_in_seven(StepKind kind) {
  const Program program = program_of(kind);
  std::vector<int64_t> numbers;
  for (int64_t segment = 0; segment < seven_in_three.count; ++segment) {
    const auto awaited = awaited_number(program, program.steps[0], segment, seven_in_three);
    if (awaited) {
      EXPECT_EQ(awaited->peer, 6);
    }
    numbers.push_back(awaited ? awaited->number : -1);
  }
  return numbers;
}

TEST(Semantics, ATransferHasOneNumberInEachSegment) {
  EXPECT_EQ(first_number(10, 2, 4), 24);
  EXPECT_EQ(number_in(0, 24, 10), 24);
  EXPECT_EQ(number_in(3, 24, 10), 54);
  std::set<int64_t> all;
  for (int64_t tick = 0; tick < ticks_of(7, 5); ++tick) {
    for (int64_t stage = 0; stage < 5; ++stage) {
      const int64_t segment = segment_at(tick, stage);
      if (segment < 0 || segment >= 7) continue;
      for (const int64_t transfer : {2 * stage + 1, 2 * stage + 2})  // two of each stage
        all.insert(number_in(segment, first_number(10, stage, transfer), 10));
    }
  }
  EXPECT_EQ(all.size(), 7u * 10u);
  EXPECT_EQ(*all.begin(), 1);
}

// The last transfer of the last stage in the last segment has the largest number, and the next base
// is larger.
TEST(Semantics, AnOperationTakesAllItsNumbersAndOneForItsEnd) {
  const Program program = program_of(StepKind::copy);
  EXPECT_EQ(ticks_of(7, 5), 11);
  EXPECT_EQ(number_in(6, first_number(10, 4, 10), 10), 110);
  EXPECT_EQ(span_of(program, 7), 111);
  EXPECT_EQ(span_of(program, 1), 51);
}

TEST(Semantics, WaitWordAndWaitLineAreForTheSameSegment) {
  const std::vector<int64_t> expected{24, 34, 44, 54, 64, 74, 84};
  EXPECT_EQ(awaited_in_seven(StepKind::wait_word), expected);
  EXPECT_EQ(awaited_in_seven(StepKind::wait_line), expected);
}

TEST(Semantics, WaitReuseIsForTheSegmentThatHadThePosition) {
  EXPECT_EQ(awaited_in_seven(StepKind::wait_reuse),
            (std::vector<int64_t>{-1, -1, -1, 24, 34, 44, 54}));
  for (int64_t segment = 0; segment < 7; ++segment) {
    const int64_t awaited = awaited_segment(StepKind::wait_reuse, segment, seven_in_three);
    if (awaited < 0) continue;
    EXPECT_EQ(position_of(awaited, 3), position_of(segment, 3));
    EXPECT_LT(awaited, segment);
  }
  EXPECT_LT(awaited_segment(StepKind::wait_reuse, 6, {.count = 7, .positions = 7}), 0);
}

TEST(Semantics, WaitBeforeIsForTheSegmentBefore) {
  EXPECT_EQ(awaited_in_seven(StepKind::wait_before),
            (std::vector<int64_t>{-1, 24, 34, 44, 54, 64, 74}));
}

TEST(Semantics, WaitReturnIsForTheLastSegmentAlone) {
  EXPECT_EQ(awaited_in_seven(StepKind::wait_return),
            (std::vector<int64_t>{-1, -1, -1, -1, -1, -1, 84}));
}

TEST(Semantics, OtherStepsAwaitNoNumber) {
  for (const StepKindProperties& kind : step_kinds) {
    if (is_wait(kind.kind)) continue;
    EXPECT_EQ(awaited_in_seven(kind.kind), std::vector<int64_t>(7, -1)) << kind.name;
  }
}

// A peer's publication ends the wait for it: both sides compute one number.
TEST(Semantics, APublicationHasTheNumberThatItsWaitIsFor) {
  const Program publishing = program_of(StepKind::publish);
  for (int64_t segment = 0; segment < 7; ++segment)
    EXPECT_EQ(own_number(publishing, publishing.steps[0], segment),
              awaited_in_seven(StepKind::wait_word)[static_cast<size_t>(segment)]);
}

TEST(Semantics, ASourceIsReadyWithItsTransferOfTheSameSegment) {
  const Program program = program_of(StepKind::reduce_any);
  const auto awaited = awaited_number(program, Arrival{6, 4, 2, 0}, 3);
  ASSERT_TRUE(awaited);
  EXPECT_EQ(awaited->peer, 6);
  EXPECT_EQ(awaited->number, 54);
  EXPECT_FALSE(awaited_number(program, Arrival{}, 3));
}

TEST(Semantics, AMessageHasTheNumberOfItsSendAtBothEnds) {
  Program program = program_of(StepKind::receive);
  program.messages = {{.peer = 8, .sends = false, .number = 2, .number_stage = 1}};
  program.steps[0].message = 0;
  EXPECT_EQ(tag_of(program, program.messages[0], 0), 12);
  EXPECT_EQ(tag_of(program, program.messages[0], 3), 42);
  EXPECT_EQ(peer_of(program, program.steps[0]), 8);
  const Program waiting = program_of(StepKind::wait_word);
  EXPECT_EQ(peer_of(waiting, waiting.steps[0]), 6);
}

// The form of the rule in the header of a trace agrees with the rule itself.
TEST(Semantics, SegmentsBackIsTheRuleInTwoNumbers) {
  EXPECT_EQ(segments_back(StepKind::wait_reuse), (SegmentsBack{0, 1}));
  EXPECT_EQ(segments_back(StepKind::wait_before), (SegmentsBack{1, 0}));
  for (const StepKindProperties& kind : step_kinds) {
    if (kind.kind == StepKind::wait_reuse || kind.kind == StepKind::wait_before) continue;
    EXPECT_EQ(segments_back(kind.kind), SegmentsBack{}) << kind.name;
  }
  EXPECT_EQ((SegmentsBack{1, 2}.count(5)), 11);
}

TEST(Semantics, SegmentsAndPositionsLieOneAfterAnother) {
  EXPECT_EQ(position_of(0, 3), 0);
  EXPECT_EQ(position_of(5, 3), 2);
  EXPECT_EQ(segment_begin(0, 64), 0u);
  EXPECT_EQ(segment_begin(5, 64), 320u);
  EXPECT_EQ(segment_length(0, 64, 200), 64u);
  EXPECT_EQ(segment_length(192, 64, 200), 8u);
}

TEST(Semantics, TheLastBlocksMayBeShortOrEmpty) {
  EXPECT_EQ(extent_length(0, 1, 64, 150), 64u);
  EXPECT_EQ(extent_length(1, 2, 64, 150), 86u);
  EXPECT_EQ(extent_length(2, 1, 64, 150), 22u);
  EXPECT_EQ(extent_length(3, 1, 64, 150), 0u);
  size_t all = 0;
  for (size_t block = 0; block < 8; ++block) all += extent_length(block, 1, 64, 150);
  EXPECT_EQ(all, 150u);
}

TEST(Semantics, AShortPartEndsInsideASegment) {
  EXPECT_EQ(part_length(100, 0, 64), 64u);
  EXPECT_EQ(part_length(100, 64, 64), 36u);
  EXPECT_EQ(part_length(100, 128, 64), 0u);
  EXPECT_EQ(part_length(0, 0, 64), 0u);
}

TEST(StepKinds, EveryRowIsWholeAndItsNameItsOwn) {
  std::set<std::string_view> names;
  for (const StepKindProperties& kind : step_kinds) {
    EXPECT_EQ(&properties_of(kind.kind), &kind);
    EXPECT_EQ(name(kind.kind), kind.name);
    EXPECT_FALSE(kind.operands.empty()) << kind.name;
    EXPECT_FALSE(kind.meaning.empty()) << kind.name;
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
  }
}

// Trace files name kinds by these numbers.
TEST(StepKinds, KeepTheirNumbers) {
  const std::vector<std::string_view> names{
      "wait_word", "wait_line",   "wait_reuse",  "copy", "reduce", "reduce_any", "publish",
      "stamp",     "wait_return", "wait_before", "post", "send",   "receive",    "sent"};
  ASSERT_GE(step_kinds.size(), names.size());
  for (size_t number = 0; number < names.size(); ++number)
    EXPECT_EQ(step_kinds[number].name, names[number]);
}

// Lowering fills the members of a step that the form of its kind names.
TEST(StepKinds, LoweredStepsHaveTheFormOfTheirKind) {
  const Plan staged =
      stage(read("tutti-plan 1\ncollective allreduce\nranks 4\ncommutative yes\n"
                 "reduce any tmp[2] <- in[2], in[3]\nreduce any out[0] <- in[1], tmp[2], in[0]\n"
                 "copy out[2] <- out[0]\ncopy out[1] <- out[0]\ncopy out[3] <- out[2]\n"),
            placement::Nodes({0, 0, 1, 1}));
  for (const Carrier carrier : {Carrier::line, Carrier::slot}) {
    const Dependences dependences = depend(staged, carrier);
    for (const Program& program : lower(staged, dependences, {0, 1, 2, 3}, carrier)) {
      for (const Step& step : program.steps) {
        const StepForm form = properties_of(step.kind).form;
        const bool moves = form == StepForm::blocks || form == StepForm::arriving_blocks;
        EXPECT_EQ(step.operand_count > 0, moves) << print(program);
        EXPECT_EQ(step.peer >= 0, is_wait(step.kind)) << print(program);
        EXPECT_EQ(step.message >= 0, form == StepForm::message) << print(program);
      }
    }
  }
}

}  // namespace
}  // namespace tutti::plan
