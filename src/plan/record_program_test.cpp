#include "plan/record_program.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "algo/algo.h"
#include "base/error.h"
#include "plan/text.h"

namespace tutti::plan {
namespace {

// The ranks, in order, whose block of one item a value combines, and the item.
struct Value {
  int64_t item = -1;
  std::vector<int32_t> leaves;
  bool operator==(const Value&) const = default;
};

// Executes the program of one rank on symbols and compares `out` with the definition.
void expect_results(const Plan& plan, const std::vector<RecordProgram>& programs, int32_t rank) {
  const Definition definition = plan.definition();
  const RecordProgram& program = programs[static_cast<size_t>(rank)];
  std::map<std::pair<Buffer, int32_t>, Value> blocks;
  for (const Take& take : program.takes) {
    Value result;
    for (int32_t i = 0; i < take.source_count; ++i) {
      const TakeSource& source = program.sources[static_cast<size_t>(take.first_source + i)];
      Value value;
      if (source.rank < 0) {
        value = blocks.at({source.buffer, source.block});
      } else {
        value = {definition.item_in(source.rank, source.block), {source.rank}};
        const auto& gives = programs[static_cast<size_t>(source.rank)].gives;
        ASSERT_EQ(gives.at(static_cast<size_t>(source.place)), source.block);
      }
      if (i > 0) {
        EXPECT_EQ(value.item, result.item);
      }
      result.item = value.item;
      result.leaves.insert(result.leaves.end(), value.leaves.begin(), value.leaves.end());
    }
    blocks[{take.buffer, take.block}] = result;
  }
  if (!definition.has_out(rank) || (one_buffer(plan.collective) && rank == plan.root)) return;
  for (int32_t block = 0; block < definition.out_blocks(); ++block) {
    const RankRange from = definition.sources(rank, block);
    Value expected{definition.item_out(rank, block), {}};
    for (int32_t source = from.low; source < from.high; ++source) expected.leaves.push_back(source);
    if (!has_data(plan.collective)) continue;
    EXPECT_EQ((blocks.at({Buffer::out, block})), expected) << "rank " << rank << " block " << block;
  }
}

struct Case {
  Collective collective;
  std::string algorithm;
};
const Case record_cases[] = {
    {Collective::barrier, "all_read_all"},
    {Collective::bcast, "flat"},
    {Collective::bcast, "binomial"},
    {Collective::bcast, "nary:3"},
    {Collective::reduce, "flat"},
    {Collective::allreduce, "all_read_all"},
    {Collective::gather, "direct"},
    {Collective::gather, "binomial"},
    {Collective::scatter, "direct"},
    {Collective::scatter, "binomial"},
    {Collective::allgather, "all_read_all"},
    {Collective::allgather, "ring"},
    {Collective::alltoall, "all_read_all"},
    {Collective::alltoall, "bruck"},
    {Collective::reduce_scatter, "all_read_all"},
    {Collective::reduce_scatter, "direct"},
    {Collective::scan, "all_read_all"},
    {Collective::exscan, "all_read_all"},
};

TEST(RecordProgram, ProgramsComputeTheCollective) {
  for (const Case& one : record_cases)
    for (int ranks = 2; ranks <= 7; ++ranks)
      for (int root = 0; root < (rooted(one.collective) ? ranks : 1); ++root) {
        SCOPED_TRACE(std::string(name(one.collective)) + " " + one.algorithm + " " +
                     std::to_string(ranks) + " root " + std::to_string(root));
        const Plan plan = algo::generate(one.collective, one.algorithm, ranks, root);
        const std::vector<RecordProgram> programs = make_record_program(plan);
        for (int32_t rank = 0; rank < ranks; ++rank) expect_results(plan, programs, rank);
      }
}

TEST(RecordProgram, ABarrierAwaitsEveryRank) {
  const std::vector<RecordProgram> programs =
      make_record_program(algo::generate(Collective::barrier, "all_read_all", 4, 0));
  EXPECT_EQ(programs[2].awaits, (std::vector<int32_t>{0, 1, 3}));
}

TEST(RecordProgram, ARootThatOnlyGivesAwaitsNobody) {
  const std::vector<RecordProgram> programs =
      make_record_program(algo::generate(Collective::bcast, "flat", 4, 1));
  EXPECT_TRUE(programs[1].awaits.empty());
  EXPECT_EQ(programs[1].gives, (std::vector<int32_t>{0}));
  EXPECT_TRUE(programs[1].given_to_others[0]);
  EXPECT_EQ(programs[0].awaits, (std::vector<int32_t>{1}));
  EXPECT_TRUE(programs[0].gives.empty());
}

TEST(RecordProgram, ABlockThatOnlyItsOwnerReadsIsMarked) {
  const std::vector<RecordProgram> programs =
      make_record_program(algo::generate(Collective::alltoall, "all_read_all", 3, 0));
  EXPECT_EQ(programs[1].gives, (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(programs[1].given_to_others, (std::vector<bool>{true, false, true}));
}

std::string refusal(const Plan& plan) {
  try {
    make_record_program(plan);
  } catch (const Error& error) {
    return error.what();
  }
  return "no refusal";
}

TEST(RecordProgram, RefusesAPlanInWhichAResultOfAReductionTravels) {
  const Plan plan = read(
      "tutti-plan 1\ncollective reduce\nalgorithm two steps\nranks 3\nblocks 1\n"
      "reduce tmp[1] <- in[1], in[2]\nreduce out[0] <- in[0], tmp[1]\n",
      "two.plan");
  EXPECT_EQ(
      refusal(plan),
      "two.plan:7: reduce out[0] <- in[0], tmp[1]: rank 0 reads the result of a reduction of "
      "rank 1, so the plan does not fit records; each rank must reduce the `in` of the others by "
      "itself");
  for (const char* const algorithm : {"binomial", "doubling", "halving", "ring", "tiled"})
    EXPECT_NE(refusal(algo::generate(Collective::allreduce, algorithm, 4, 0))
                  .find("does not fit records"),
              std::string::npos)
        << algorithm;
}

TEST(RecordProgram, KeepsReductionsInStepsWithinARank) {
  const Plan plan = read(
      "tutti-plan 1\ncollective reduce\nalgorithm in steps\nranks 3\nblocks 1\n"
      "copy tmp[0] <- in[1]\nreduce tmp[0].1 <- in[0], tmp[0]\n"
      "reduce out[0] <- tmp[0].1, in[2]\n");
  const RecordProgram root = make_record_program(plan)[0];
  ASSERT_EQ(root.takes.size(), 2u);
  EXPECT_EQ(root.sources[2], (TakeSource{-1, 1, 0, Buffer::tmp}));
  EXPECT_EQ(root.sources[3], (TakeSource{.rank = 2, .awaited = 1}));
  EXPECT_EQ(root.tmp_blocks, 2);
}

}  // namespace
}  // namespace tutti::plan
