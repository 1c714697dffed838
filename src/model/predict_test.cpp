#include "model/predict.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "model/test_programs.h"
#include "plan/text.h"

namespace tutti::model {
namespace {

using plan::Collective;

const Machine plain = bare_machine({{"node", 60, 0.1, 0.1, 0.02}});

TEST(Predict, ABarrierOfTwoTakesOneHandOver) {
  const Prediction found = prediction_of({Collective::barrier, "all_read_all", 2, 0}, plain);
  EXPECT_EQ(found.time, 60);
  EXPECT_EQ(found.ends, (std::vector<double>{60, 60}));
  ASSERT_FALSE(found.critical.empty());
}

TEST(Predict, EveryCostCounts) {
  Machine machine = plain;
  const TestCall call{Collective::reduce, "flat", 3, 1000};
  // A hand-over, then two reads one after the other.
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 60 + 2 * 100);
  machine.own.call = 10;
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 270);
  machine.own.copy = 0.05;  // the other ranks copy their vectors into their slots
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 320);
  machine.levels[0].add = 0.11;
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 340);
  machine.own.step = 1;  // copy and publish there, reduce and publish here
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 344);
}

TEST(Predict, VectorsOfItsOwnCostARankTheirCombination) {
  Machine machine = plain;
  machine.network = {.overhead = 0, .latency = 1000, .gap = 0, .byte = 0, .prompt = 1 << 20};
  machine.own.combine = 0.01;
  TestCall call{Collective::reduce, "flat", 3, 1000};
  call.nodes = placement::Nodes({0, 1, 2});
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 1000 + 2 * 10) << "messages have come";
}

TEST(Predict, CostsFollowTheLengthOfAnAccess) {
  const ByteCost cost({{1000, 0.2}, {100000, 0.1}});
  EXPECT_DOUBLE_EQ(cost.at(1), 0.2);
  const double time = 200 + 9000. / 99000 * 9800;  // linear between 1000 and 100000
  EXPECT_DOUBLE_EQ(cost.at(10000) * 10000, time);
  EXPECT_DOUBLE_EQ(cost.at(1e9), 0.1);
  const Machine machine = bare_machine({{"node", 60, cost, cost, 0.01}});
  EXPECT_DOUBLE_EQ(prediction_of({Collective::bcast, "flat", 2, 10000}, machine).time, 60 + time);
}

// Writing where others have read costs more than a copy.
TEST(Predict, WritesToSlotsHaveACostOfTheirOwn) {
  Machine machine = bare_machine({{"node", 60, 0.1, 0.1, 0.01}});
  machine.own.copy = 0.05;
  TestCall call{Collective::bcast, "flat", 2, 10000};
  const double plain = prediction_of(call, machine).time;
  machine.levels[0].write = ByteCost({{20000, 0.2}, {1000000, 0.4}});
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, plain + 10000 * (0.2 - 0.05));
}

// The next segment is written while the last one is read: both need the link.
TEST(Predict, WritesShareTheLinkWithReads) {
  Machine machine = bare_machine({{"node", 0, 0.1, 0.1, 0.05}});
  machine.levels[0].write = 0.1;
  TestCall call{Collective::bcast, "levels:push", 2, 64000};
  call.segment = 6400;
  EXPECT_NEAR(prediction_of(call, machine).time, 6400 + 640, 1e-6) << "half of the link each";
  machine.levels[0].shared_write = 0.1;
  EXPECT_NEAR(prediction_of(call, machine).time, 9 * 960 + 2 * 640, 1e-6) << "1.5 of it";
}

// In the first segment an access takes its latency, and the following ones go on where it ended.
TEST(Predict, SegmentsGoOnWhereTheLastOneEnded) {
  const ByteCost cost({{1024, 0.2}, {10240, 0.1}});
  const Machine machine = bare_machine({{"node", 60, cost, cost, 0.01}});
  TestCall call{Collective::bcast, "flat", 2, 10240};
  call.segment = 1024;
  call.mapped = true;
  EXPECT_NEAR(prediction_of(call, machine).time, 60 + 1024 * 0.2 + 9216 * 0.1 + 60, 1e-6)
      << "and the root waits for its reader";
}

// A part of a segment lies behind other parts, so each of its accesses takes its latency.
TEST(Predict, PartsOfSegmentsBeginAnew) {
  const ByteCost cost({{1024, 0.2}, {10240, 0.1}});
  const Machine machine = bare_machine({{"node", 60, cost, cost, 0.01}});
  TestCall call{Collective::bcast, "ring", 2, 10240};  // two halves
  call.segment = 2048;
  call.mapped = true;
  EXPECT_NEAR(prediction_of(call, machine).time, 60 + 10 * 1024 * 0.2 + 60, 1e-6);
}

// The executor's writers do so where a plain copy takes more than 10 ns a line.
TEST(Predict, SlowWritesGoPastTheCache) {
  Machine machine = bare_machine({{"node", 60, 0.1, 0.1, 0.01}});
  machine.own.copy = 0.05;
  TestCall call{Collective::bcast, "flat", 2, 10000};
  const double plain = prediction_of(call, machine).time;
  machine.levels[0].write = 0.15;  // 9.6 ns a line
  machine.levels[0].write_past = 0.07;
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, plain + 10000 * (0.15 - 0.05));
  machine.levels[0].write = 0.16;  // 10.24 ns
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, plain + 10000 * (0.07 - 0.05));
  machine.levels[0].byte_past = 0.13;
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 60 + 10000 * (0.07 + 0.13))
      << "its reader finds it in memory";
  call.algorithm = "levels:push";
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 60 + 10000 * (0.07 + 0.13))
      << "whoever owns the slot";
  // Each combines its own vector, too, which it has written past its cache.
  call = {Collective::allreduce, "doubling", 2, 10000};
  machine.levels[0].shared = 0;
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 60 + 10000 * (0.07 + 2 * 0.13));
  call = {Collective::bcast, "flat", 2, 10000};
  call.bytes = 2000;
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 60 + 2000 * (0.16 + 0.1)) << "too short";
}

TEST(Predict, SystemCopiesBypassTheSlots) {
  Machine machine = bare_machine({{"node", 60, 0.1, 0.1, 0.01}});
  machine.own.copy = 0.05;
  machine.own.combine = 0.02;
  machine.levels[0].system = 0.3;
  TestCall call{Collective::bcast, "flat", 2, 10000};
  call.reach = ReachChoice::cma;
  // The root waits until its buffer has been read.
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 60 + 3000 + 60);
  call.bytes = 4000;
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 60 + 4000 * (0.05 + 0.1)) << "too short";
  // Two vectors are copied, then combined with the root's own.
  call = {Collective::reduce, "flat", 3, 10000};
  call.reach = ReachChoice::cma;
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 60 + 2 * 3000 + 2 * 200 + 60);
  machine.levels[0].system.reset();
  EXPECT_THROW(prediction_of(call, machine), Error);
}

// The lines of many ranks come one after another over the link that all share.
TEST(Predict, LinesShareALink) {
  Machine machine = bare_machine({{"node", 60, 0.1, 0.1, 0.1}});
  TestCall call{Collective::barrier, "all_read_all", 2};
  call.carrier = plan::Carrier::line;
  const double line = 64 * 0.1;
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 60 + line) << "two lines at once";
  call.ranks = 3;
  EXPECT_NEAR(prediction_of(call, machine).time, 60 - line + 6 * line, 1e-9);
  machine.levels[0].shared = 0.001;
  EXPECT_NEAR(prediction_of(call, machine).time, 60 + line, 1e-9)
      << "the first line comes with the hand-over";
}

// Data that another rank has written into a slot is in that rank's cache, until its owner reads it.
TEST(Predict, PushedDataIsReadFromItsWriter) {
  Machine machine = bare_machine({{"node", 60, 0.1, 0.1, 0.01}});
  const TestCall pushed{Collective::reduce, "levels:push", 2, 1000};
  EXPECT_DOUBLE_EQ(prediction_of(pushed, machine).time, 60 + 100) << "the root reads it";
  machine.own.copy = 0.02;
  EXPECT_DOUBLE_EQ(prediction_of(pushed, machine).time, 20 + 60 + 100);
  machine.levels[0].write = 0.3;
  EXPECT_DOUBLE_EQ(prediction_of(pushed, machine).time, 300 + 60 + 100)
      << "its place was in the root's cache";
  machine.levels[0].add_same = 0.5;
  EXPECT_DOUBLE_EQ(prediction_of(pushed, machine).time, 300 + 60 + 100)
      << "nobody else reads it at the same time";
}

// A result that others read in place each time lies in their caches when it is written again.
TEST(Predict, ResultsThatOthersReadCostMore) {
  Machine machine = bare_machine({{"node", 60, 0.1, 0.1, 0}});
  machine.own.copy = 0.05;
  TestCall call{Collective::allreduce, "flat", 2, 10000};
  call.mapped = true;
  const double plain = prediction_of(call, machine).time;
  machine.levels[0].write_in_place = 0.35;
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, plain + 10000 * (0.35 - 0.1))
      << "the sources are read meanwhile";
  machine.levels[0].write_in_place = 0.1;
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, plain);
  call.mapped = false;
  machine.levels[0].write_in_place.reset();
  const double through_slots = prediction_of(call, machine).time;
  machine.levels[0].write_in_place = 0.35;
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, through_slots) << "they read slots";
}

// Two that publish at once take longer than one for which the other waits.
TEST(Predict, HandOversThatCrossTakeLonger) {
  Machine machine = bare_machine({{"node", 60, 0, 0, 0}});
  machine.levels[0].exchange = 80;
  EXPECT_EQ(prediction_of({Collective::barrier, "all_read_all", 2, 0}, machine).time, 80);
  EXPECT_EQ(prediction_of({Collective::bcast, "flat", 2, 8}, machine).time, 60);
  TestCall call{Collective::barrier, "all_read_all", 2, 0};
  call.arrivals = {0, 100};
  EXPECT_EQ(prediction_of(call, machine).time, 160) << "they do not cross";
}

// Two that combine at once take longer than two that copy, if the machine says so.
TEST(Predict, CombinationsMayShareALinkWorse) {
  Machine machine = bare_machine({{"node", 60, 0.1, 0.1, 0.05}});
  const TestCall call{Collective::allreduce, "all_read_all", 2, 10000};
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 60 + 1000);
  machine.levels[0].shared_add = 0.08;
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 60 + 1600);
}

// Ranks that combine what its owner combines at the same time take longer, if the machine says so;
// tiles are read by one rank each.
TEST(Predict, SourcesThatTheOwnerReadsTooCostMore) {
  Machine machine = bare_machine({{"node", 60, 0.1, 0.1, 0}});
  machine.levels[0].add_same = 0.3;
  TestCall call{Collective::reduce, "flat", 2, 10000};
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 60 + 1000);
  call.collective = Collective::allreduce;
  call.algorithm = "doubling";
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 60 + 3000);
}

// The numbers that made trees combine stepwise: 60 ns a hand-over, 0.1 ns a byte.
TEST(Predict, StepwiseTreesAreQuicker) {
  const auto time = [](std::string_view algorithm, size_t bytes) {
    return prediction_of({Collective::reduce, algorithm, 16, bytes},
                         bare_machine({{"node", 60, 0.1, 0.1, 0.001}}))
        .time;
  };
  EXPECT_DOUBLE_EQ(time("binomial", 1000), 4 * 60 + 10 * 100);
  EXPECT_DOUBLE_EQ(time("binomial:stepwise", 1000), 4 * 160);
}

TEST(Predict, LateRanksDelayWhoeverNeedsThem) {
  TestCall call{Collective::reduce, "binomial:stepwise", 4, 1000};
  call.arrivals = {0, 0, 0, 500};
  const Prediction found = prediction_of(call, plain);
  // Rank 3 gives at 500; rank 2 combines, then rank 0.
  EXPECT_DOUBLE_EQ(found.time, 500 + 160 + 160);
  EXPECT_EQ(found.events[static_cast<size_t>(found.critical.front())].rank, 3);
  call.arrivals = {0, 500, 0, 0};
  EXPECT_DOUBLE_EQ(prediction_of(call, plain).time, 500 + 160 + 100)
      << "rank 2's sum is there when rank 1 comes";
}

TEST(Predict, ReductionsInAnyOrderTakeWhoComesFirst) {
  const char* const text =
      "tutti-plan 1\ncollective reduce\nranks 3\ncommutative yes\nreduce any out[0] <- in[0], "
      "in[1], in[2]\n";
  const plan::Plan staged = plan::stage(plan::read(text, "text"));
  const auto programs = plan::lower(staged, plan::depend(staged, plan::Carrier::slot), {0, 1, 2},
                                    plan::Carrier::slot);
  const plan::Travel travel{false, plan::geometry_of_whole(programs.front(), 8, 1000), false,
                            false};
  const std::vector<placement::SharedLevel> levels;
  const placement::Nodes nodes;
  Question question{programs, travel, 8, 1000, plain, levels, nodes, {0, 300, 0}};
  EXPECT_DOUBLE_EQ(predict(question).time, 300 + 60 + 100) << "rank 2's vector is read before";
  question.arrivals = {0, 0, 300};
  EXPECT_DOUBLE_EQ(predict(question).time, 300 + 60 + 100) << "rank 1's vector is read before";
}

TEST(Predict, SegmentsFlowThroughATree) {
  TestCall call{Collective::bcast, "binary", 7, 64 * 1024};
  const Machine machine = bare_machine({{"node", 60, 0.1, 0.1, 0.001}});
  const double whole = prediction_of(call, machine).time;
  call.segment = 4096;
  const double cut = prediction_of(call, machine).time;
  EXPECT_LT(cut, 0.75 * whole);
}

TEST(Predict, ManyReadersShareTheLink) {
  const Machine machine = bare_machine({{"node", 60, 0.1, 0.1, 0.05}});
  EXPECT_DOUBLE_EQ(prediction_of({Collective::bcast, "flat", 9, 1000}, machine).time,
                   60 + 8 * 0.05 * 1000);
  const Prediction found = prediction_of({Collective::bcast, "flat", 9, 1000}, machine);
  ASSERT_EQ(found.loads.size(), 1u);
  EXPECT_EQ(found.loads[0].name, "node 0");
  EXPECT_EQ(found.loads[0].most, 8u);
  EXPECT_DOUBLE_EQ(found.loads[0].bytes, 8000);
  EXPECT_DOUBLE_EQ(found.loads[0].busy, 400);
}

TEST(Predict, MessagesFollowLogGP) {
  Machine machine = plain;
  machine.network = {.overhead = 250, .latency = 1000, .gap = 400, .byte = 0.5, .prompt = 4096};
  TestCall call{Collective::bcast, "binomial", 2, 1000};
  call.nodes = placement::Nodes({0, 1});
  // o, G for 1000 bytes, L, o.
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 250 + 500 + 1000 + 250);
  call.bytes = 8;
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 250 + 4 + 1000 + 250);
  call.bytes = 10000;  // the sender asks, and the receiver answers
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 250 + 2 * 1000 + 5000 + 1000 + 250);
}

TEST(Predict, MessagesKeepTheGap) {
  Machine machine = plain;
  machine.network = {.overhead = 250, .latency = 1000, .gap = 400, .byte = 0.5, .prompt = 4096};
  TestCall call{Collective::bcast, "flat", 4, 8};
  call.nodes = placement::Nodes({0, 1, 2, 3});
  // Three messages leave from 250 on, each 400 after the one before.
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 250 + 2 * 400 + 4 + 1000 + 250);
}

// Ranks of a node that share no memory: programs have each of them on a node of its own.
TEST(Predict, MessagesWithinANodeShareItsMemory) {
  Machine machine = plain;
  machine.network = {.overhead = 250, .latency = 1000, .gap = 400, .byte = 0.5, .prompt = 4096};
  const auto time = [&machine](Collective collective, int ranks, size_t bytes) {
    TestCall call{collective, "flat", ranks, bytes};
    call.alone = true;
    return prediction_of(call, machine).time;
  };
  EXPECT_THROW(time(Collective::bcast, 2, 1000), Error) << "the machine has no such costs";
  machine.messages = {.overhead = 100, .latency = 300, .byte = 0.2, .shared = 0.1};
  EXPECT_DOUBLE_EQ(time(Collective::bcast, 2, 1000), 100 + 300 + 200 + 100);
  EXPECT_DOUBLE_EQ(time(Collective::bcast, 2, 10000), 100 + 300 + 2000 + 100) << "nobody asks";
  // Four messages come at once, twice as many as the memory serves without delay.
  EXPECT_DOUBLE_EQ(time(Collective::gather, 5, 1000), 100 + 300 + 400 + 4 * 100);
}

// Long messages leave one after another: the second begins when the first has left, whose receiver
// then has it.
TEST(Predict, LongMessagesLeaveOneAfterAnother) {
  Machine machine = plain;
  machine.network = {.overhead = 0, .latency = 1000, .gap = 0, .byte = 1, .prompt = 4096};
  TestCall call{Collective::bcast, "flat", 3, 2'000'000};
  call.nodes = placement::Nodes({0, 1, 2});
  const double asked = 2 * 1000, moving = 2'000'000;
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, 2 * (asked + moving) + 1000);
  call.bytes = 100'000;  // two that are no longer than most_leaving together do not wait
  EXPECT_DOUBLE_EQ(prediction_of(call, machine).time, asked + 2 * 100'000 + 1000);
}

TEST(Predict, MissingCostsAreNamed) {
  TestCall call{Collective::bcast, "binomial", 2, 1000};
  call.levels = placement::Levels({{"cache", {0, 0, 1, 1}, 0}});
  call.ranks = 4;
  try {
    prediction_of(call, plain);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "machine 'bare' has no costs of the level 'cache', which these ranks have; add "
                 "them to \"levels\" in its file");
  }
}

// Ranks that all share an inner unit pay its costs.
TEST(Predict, TheInnermostSharedUnitCounts) {
  const Machine machine =
      bare_machine({{"node", 100, 0.3, 0.3, 0.1}, {"numa", 30, 0.1, 0.1, 0.05}});
  const std::vector<plan::Program> programs = programs_of({Collective::bcast, "flat", 2, 1000});
  const plan::Travel travel{false, plan::geometry_of_whole(programs.front(), 8, 1000), false,
                            false};
  const placement::Nodes nodes;
  const auto time = [&](const std::vector<placement::SharedLevel>& levels) {
    return predict({programs, travel, 8, 1000, machine, levels, nodes}).time;
  };
  const placement::PeriodicRow together({0, 0}), apart({0, 1});
  EXPECT_DOUBLE_EQ(time({}), 400);
  EXPECT_DOUBLE_EQ(time({{"numa", together, 1}, {"core", apart, 2}}), 130);
  EXPECT_DOUBLE_EQ(time({{"numa", apart, 2}}), 400);
  EXPECT_DOUBLE_EQ(time({{"socket", together, 1}, {"numa", together, 1}}), 130)
      << "the socket is the node, so it needs no costs of its own";
}

// All algorithms end in virtual time, over lines and over slots, whatever their ranks do.
TEST(Predict, EveryAlgorithmEnds) {
  const Machine machine =
      bare_machine({{"node", 100, 0.3, 0.3, 0.1}, {"numa", 30, 0.1, 0.1, 0.05}});
  int count = 0;
  for (const algo::Algorithm& algorithm : algo::algorithms())
    for (const Collective collective : algorithm.collectives)
      for (const int ranks : {1, 2, 5, 8}) {
        TestCall call{collective, algorithm.name, ranks, 4096};
        if (ranks == 8) call.levels = placement::Levels({{"numa", {0, 0, 0, 0, 1, 1, 1, 1}, 0}});
        const Prediction whole = prediction_of(call, machine);
        EXPECT_EQ(whole.ends.size(), static_cast<size_t>(ranks));
        EXPECT_GE(whole.time, 0);
        for (const int32_t event : whole.critical) {
          const Event& at = whole.events[static_cast<size_t>(event)];
          EXPECT_LE(at.begin, at.end);
          EXPECT_LE(at.end, whole.time);
        }
        call.segment = 512;
        EXPECT_GE(prediction_of(call, machine).time, 0);
        ++count;
      }
  EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace tutti::model
