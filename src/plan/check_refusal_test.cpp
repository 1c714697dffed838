// Wrong plans, and the messages that refuse them.
#include "plan/check.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/sanitized.h"
#include "plan/text.h"

namespace tutti::plan {
namespace {

// The message of the refusal; lines count from 1 behind "tutti-plan 1", as in the texts below.
std::string refusal(const std::string& lines) {
  const Plan plan = read("tutti-plan 1" + lines);
  try {
    check(plan);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_plan);
    return error.what();
  }
  return {};
}

struct Broken {
  const char* what;
  const char* lines;    // from line 2 of the text
  const char* message;  // the start
};

void hold(const std::vector<Broken>& table) {
  for (const Broken& broken : table) {
    const std::string message = refusal(broken.lines);
    EXPECT_TRUE(message.starts_with(broken.message)) << broken.what << "\n"
                                                     << message << "\n"
                                                     << broken.message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << broken.what;
  }
}

TEST(Check, RefusesEachKindOfBreakageWithItsLine) {
  const std::vector<Broken> table = {
      {"unwritten tmp",
       "\ncollective reduce\nranks 2\nreduce out[0] <- in[0], tmp[1]\ncopy tmp[1] <- in[1]\n",
       "line 4: reduce out[0] <- in[0], tmp[1]: it reads tmp[1], which nobody wrote"},
      {"unwritten block",
       "\ncollective bcast\nranks 2\nblocks 3\ncopy tmp[0].0+2 <- in[0].0+2\ncopy out[1].0+3 <- "
       "tmp[0].0+3\n",
       "line 6: copy out[1].0+3 <- tmp[0].0+3: it reads tmp[0].2, which nobody wrote"},
      {"unwritten out", "\ncollective allreduce\nranks 2\ncopy out[1] <- out[0]\n",
       "line 4: copy out[1] <- out[0]: it reads out[0], which nobody wrote"},
      {"in of another rank than the root of a bcast",
       "\ncollective bcast\nranks 2\ncopy out[1] <- in[1]\n",
       "line 4: copy out[1] <- in[1]: in[1] holds nothing: only the root of a bcast has an `in`"},
      {"reduce in a bcast", "\ncollective bcast\nranks 2\nreduce out[1] <- in[0], in[0]\n",
       "line 4: reduce out[1] <- in[0], in[0]: a bcast has no operation"},
      {"out of another rank than the root of a reduce",
       "\ncollective reduce\nranks 2\nroot 1\nreduce out[1] <- in[0], in[1]\ncopy out[0] <- "
       "out[1]\n",
       "line 6: copy out[0] <- out[1]: only the root, rank 1, has an `out` in a reduce"},
      {"twice in one reduce",
       "\ncollective allreduce\nranks 2\nreduce out[0] <- in[0], in[1], in[1]\n",
       "line 4: reduce out[0] <- in[0], in[1], in[1]: it combines the data of rank 1 twice"},
      {"twice by two ways",
       "\ncollective reduce\nranks 4\ncommutative yes\nreduce tmp[1] <- in[0], in[1], "
       "in[2]\nreduce out[0] <- in[3], tmp[1], in[2]\n",
       "line 6: reduce out[0] <- in[3], tmp[1], in[2]: it combines the data of rank 2 twice"},
      {"order lost",
       "\ncollective reduce\nranks 3\nreduce tmp[1] <- in[1], in[0]\nreduce out[0] <- tmp[1], "
       "in[2]\n",
       "line 4: reduce tmp[1] <- in[1], in[0]: rank order is lost: rank 0 after rank 1; combine "
       "neighbours in rank order, or say"},
      {"order lost by a gap",
       "\ncollective reduce\nranks 4\nreduce tmp[0] <- in[0], in[1]\nreduce tmp[0] <- tmp[0], "
       "in[3]\n",
       "line 5: reduce tmp[0] <- tmp[0], in[3]: rank order is lost: rank 3 after ranks 0..1"},
      {"blocks mixed",
       "\ncollective reduce\nranks 2\nblocks 2\ncopy tmp[0] <- in[1].1\nreduce out[0] <- in[0], "
       "tmp[0]\n",
       "line 6: reduce out[0] <- in[0], tmp[0]: it combines block 0 of the vector with block 1 of "
       "the vector"},
      {"a leaf is missing", "\ncollective reduce\nranks 3\nreduce out[0] <- in[0], in[1]\n",
       "block 0 of out[0] holds ranks {0,1}; the reduce needs 0..2; last written at line 4 by "
       "'reduce out[0] <- in[0], in[1]', "
       "without {2}"},
      {"the first leaf is missing",
       "\ncollective allreduce\nranks 3\nreduce out[0] <- in[1], in[2]\n",
       "block 0 of out[0] holds ranks {1,2}; the allreduce needs 0..2; last written at line 4"},
      {"a result is overwritten",
       "\ncollective reduce\nranks 2\nreduce out[0] <- in[0], in[1]\ncopy out[0] <- in[1]\n",
       "block 0 of out[0] holds ranks {1}; the reduce needs 0..1; last written at line 5 by 'copy "
       "out[0] <- in[1]'"},
      {"another block in `out`",
       "\ncollective bcast\nranks 2\nblocks 2\ncopy out[1].0 <- in[0].1\ncopy out[1].1 <- "
       "in[0].1\n",
       "line 5: copy out[1] <- in[0].1: it writes block 1 of the vector where block 0 of `out` "
       "belongs; use `tmp` for"},
      {"another block in `out` for a while",
       "\ncollective bcast\nranks 2\nblocks 2\ncopy out[1].0 <- in[0].1\ncopy out[1].0+2 <- "
       "in[0].0+2\n",
       "line 5: copy out[1] <- in[0].1: it writes block 1 of the vector where block 0 of `out` "
       "belongs"},
      {"another block at the root of a bcast",
       "\ncollective bcast\nranks 2\nblocks 2\ncopy out[0].0 <- in[0].1\ncopy out[1].0+2 <- "
       "in[0].0+2\n",
       "line 5: copy out[0] <- in[0].1: it writes block 1 of the vector where block 0 of `out` "
       "belongs"},
      {"another block by way of `tmp`",
       "\ncollective bcast\nranks 3\nblocks 2\ncopy tmp[1].0 <- in[0].1\ncopy tmp[2].7 <- "
       "tmp[1].0\ncopy out[2].0 <- tmp[2].7\n",
       "line 7: copy out[2] <- tmp[2].7: it writes block 1 of the vector where block 0 of `out` "
       "belongs"},
      {"another block by a push",
       "\ncollective bcast\nranks 2\nblocks 3\npush out[1].0+2 <- in[0].1+2\n",
       "line 5: push out[1].0+2 <- in[0].1+2: it writes block 1 of the vector where block 0 of "
       "`out` belongs"},
      {"another block by strides",
       "\ncollective bcast\nranks 2\nblocks 4\ncopy out[1].0+2/2 <- in[0].0+2\n",
       "line 5: copy out[1].0+2/2 <- in[0].0+2: it writes block 1 of the vector where block 2 of "
       "`out` belongs"},
      {"another block of a result",
       "\ncollective allreduce\nranks 2\nblocks 2\nreduce out[0].0 <- in[0].1, in[1].1\n",
       "line 5: reduce out[0] <- in[0].1, in[1].1: it writes block 1 of the vector where block 0 "
       "of `out` belongs"},
      {"shifted blocks of one transfer",
       "\ncollective allreduce\nranks 2\nblocks 3\ncopy out[0].0+2 <- in[0].1+2\n",
       "line 5: copy out[0].0+2 <- in[0].1+2: it writes block 1 of the vector where block 0 of "
       "`out` belongs"},
      {"an out is never written",
       "\ncollective allreduce\nranks 2\nreduce out[0] <- in[0], in[1]\n",
       "block 0 of out[1] holds nothing; the allreduce needs 0..1; no transfer writes it"},
      {"nothing at all", "\ncollective barrier\nranks 2\n",
       "block 0 of out[0] holds nothing; the barrier needs 0..1; no transfer writes it"},
      {"an exit that does not hang on every arrival",
       "\ncollective barrier\nranks 3\nreduce out[0] <- in[0], in[1], in[2]\ncopy out[1] <- "
       "out[0]\nreduce out[2] <- in[2], in[1]\n",
       "block 0 of out[2] holds ranks {1,2}; the barrier needs 0..2; last written at line 6"},
  };
  hold(table);
}

TEST(Check, RefusesWrongParts) {
  hold({
      {"a part in another's place of a gather",
       "\ncollective gather\nranks 3\ncopy out[0].1 <- in[2]\n",
       "line 4: copy out[0].1 <- in[2]: it writes the part of rank 2 where the part of rank 1 "
       "belongs; use `tmp`"},
      {"a gather at another rank", "\ncollective gather\nranks 2\nroot 1\ncopy out[0].1 <- in[1]\n",
       "line 5: copy out[0].1 <- in[1]: only the root, rank 1, has an `out` in a gather"},
      {"a part is missing in an allgather",
       "\ncollective allgather\nranks 2\ncopy out[0] <- in[0]\ncopy out[0].1 <- in[1]\ncopy out[1] "
       "<- in[0]\n",
       "block 1 of out[1] holds nothing; the allgather needs 1; no transfer writes it"},
      {"another's part of a scatter", "\ncollective scatter\nranks 2\ncopy out[1] <- in[0]\n",
       "line 4: copy out[1] <- in[0]: it writes the part for rank 0 where the part for rank 1 "
       "belongs"},
      {"a scatter from another rank", "\ncollective scatter\nranks 2\ncopy out[1] <- in[1].1\n",
       "line 4: copy out[1] <- in[1].1: in[1].1 holds nothing: only the root of a scatter has an "
       "`in`"},
      {"an alltoall that does not turn blocks",
       "\ncollective alltoall\nranks 2\ncopy out[0].1 <- in[0].1\n",
       "line 4: copy out[0].1 <- in[0].1: it writes the part of rank 0 for rank 1 where the part "
       "of rank 1 for rank 0 belongs"},
      {"parts mixed", "\ncollective reduce_scatter\nranks 2\nreduce out[0] <- in[0], in[1].1\n",
       "line 4: reduce out[0] <- in[0], in[1].1: it combines the part for rank 0 with the part for "
       "rank 1; combine the same"},
      {"an allgather that combines",
       "\ncollective allgather\nranks 2\nreduce tmp[0] <- in[0], in[1]\n",
       "line 4: reduce tmp[0] <- in[0], in[1]: an allgather has no operation to reduce with"},
      {"too much in a scan",
       "\ncollective scan\nranks 2\nreduce out[0] <- in[0], in[1]\nreduce out[1] <- in[0], in[1]\n",
       "block 0 of out[0] holds ranks {0,1}; the scan needs 0; last written at line 4 by 'reduce "
       "out[0] <- in[0], in[1]', "
       "which has more"},
      {"an exscan at rank 0", "\ncollective exscan\nranks 2\ncopy out[0] <- in[0]\n",
       "line 4: copy out[0] <- in[0]: rank 0 has no `out` in an exscan; use `tmp`"},
  });
}

TEST(Check, MessagesNameTheFile) {
  Plan plan = read(
      "tutti-plan 1\ncollective allreduce\nranks 8\nblocks 4\n"
      "reduce out[5].3 <- in[0].3, in[1].3, in[2].3, in[3].3\n");
  plan.transfers.clear();
  plan.commutative = true;
  for (int32_t rank = 0; rank < 8; ++rank) {
    plan.reduce(out(rank, 0, 4), {in(0, 0, 4), in(1, 0, 4), in(2, 0, 4), in(3, 0, 4), in(4, 0, 4),
                                  in(5, 0, 4), in(6, 0, 4), in(7, 0, 4)});
  }
  plan.reduce(out(5, 3), {in(0, 3), in(1, 3), in(2, 3), in(4, 3)});
  plan.files = {"library.py", "my_plan.py"};
  plan.transfers.back().file = 1;
  plan.transfers.back().line = 14;
  try {
    check(plan);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "block 3 of out[5] holds ranks {0,1,2,4}; the allreduce needs 0..7; last written "
                 "at my_plan.py:14 by "
                 "'reduce out[5].3 <- in[0].3, in[1].3, in[2].3, in[4].3', without {3,5,6,7}");
  }
}

TEST(Check, LargeSetsOfRanksAreCut) {
  std::string text = "\ncollective reduce\nranks 4096\ncommutative yes\nreduce out[0] <- in[0]";
  for (int rank = 2; rank < 4096; rank += rank < 100 ? 3 : 1)
    text += ", in[" + std::to_string(rank) + "]";
  const std::string message = refusal(text + "\n");
  EXPECT_NE(message.find("holds ranks {0,2,5,8,11,14,17,20,...}; the reduce needs 0..4095"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find(", without {1,3,4,6,7,9,10,12,...}"), std::string::npos) << message;
  EXPECT_LT(message.size(), 300u);
}

TEST(Check, LongRunsOfRanksAreRanges) {
  EXPECT_NE(refusal("\ncollective reduce\nranks 9\nreduce out[0] <- in[3], in[4], in[5], in[6]\n")
                .find("holds ranks {3..6}; the reduce needs 0..8; last written at line 4 by "
                      "'reduce out[0] <- in[3], in[4], "
                      "in[5], in[6]', without {0,1,2,7,8}"),
            std::string::npos);
}

TEST(Check, PlansFromCodeAreNamedByTransfer) {
  Plan plan;
  plan.collective = Collective::allreduce;
  plan.ranks = 2;
  plan.copy(out(0), in(0));
  plan.copy(out(1), tmp(0));
  try {
    check(plan);
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("transfer 2: ")) << error.what();
  }
}

// A short text can name more blocks than there is time and memory for. It is refused before the
// check begins.
TEST(Check, RefusesMoreBlocksThanCanBeChecked) {
  std::string text = "\ncollective bcast\nranks 2\nblocks 1048576\n";
  for (int i = 0; i < 9; ++i) text += "copy out[1].0+1048576 <- in[0].0+1048576\n";
  EXPECT_TRUE(
      refusal(text).starts_with("the plan moves 18874368 blocks, more than the 17825792 that "))
      << refusal(text);
}

TEST(Check, RefusesPartialResultsInTooManyPieces) {
  if (looks_at_memory) GTEST_SKIP() << "it would add 33 million pieces, in half a minute";
  std::string every_second;
  constexpr int ranks = 200000;
  for (int rank = 0; rank < ranks; rank += 2)
    every_second += (rank == 0 ? "in[" : ", in[") + std::to_string(rank) + "]";
  std::string text = "\ncollective reduce\ncommutative yes\nranks " + std::to_string(ranks) +
                     "\nreduce tmp[0] <- " + every_second + "\n";
  for (int i = 0; i < 1000; ++i) text += "reduce tmp[1] <- tmp[0], in[1]\n";
  const std::string message = refusal(text);
  EXPECT_NE(message.find("more than 33554432 pieces; combine neighbours"), std::string::npos)
      << message;
}

}  // namespace
}  // namespace tutti::plan
