#include "plan/text.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "plan/test_changed_text.h"

namespace tutti::plan {
namespace {

constexpr const char* example = R"(tutti-plan 1
collective allreduce
algorithm two level, by hand
ranks 3
commutative yes
blocks 6
shape node:1 numa:2 core:8
reduce @0 tmp[0].1+3 <- in[0].0+3, in[1].0+3
push @2 out[2].0+3/2 <- tmp[0].1+3
push @2 tmp[1] <- tmp[0].1, tmp[0].2
copy @7 out[1].5 <- tmp[1]
reduce any @7 out[0].5 <- tmp[1], in[0].5
)";

std::string refusal(std::string_view text, std::string_view name = "my.plan") {
  try {
    read(text, name);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_plan);
    return error.what();
  }
  return {};
}

TEST(Text, ReadsEveryPart) {
  const Plan plan = read(example);
  EXPECT_EQ(plan.collective, Collective::allreduce);
  EXPECT_EQ(plan.algorithm, "two level, by hand");
  EXPECT_EQ(plan.ranks, 3);
  EXPECT_EQ(plan.root, 0);
  EXPECT_TRUE(plan.commutative);
  EXPECT_EQ(plan.blocks, 6);
  EXPECT_EQ(plan.shape, "node:1 numa:2 core:8");
  EXPECT_TRUE(plan.files.empty());
  ASSERT_EQ(plan.transfers.size(), 5u);

  const Transfer& reduce = plan.transfers[0];
  EXPECT_EQ(reduce.kind, TransferKind::reduce);
  EXPECT_FALSE(reduce.push);
  EXPECT_EQ(reduce.stage, 0);
  EXPECT_EQ(reduce.line, 8);
  EXPECT_FALSE(reduce.any_order);
  EXPECT_EQ(reduce.dst, (Region{0, Buffer::tmp, 1, 3, 1}));
  EXPECT_EQ(reduce.src, (std::vector<Region>{{0, Buffer::in, 0, 3, 1}, {1, Buffer::in, 0, 3, 1}}));

  EXPECT_EQ(plan.transfers[1].kind, TransferKind::copy);
  EXPECT_TRUE(plan.transfers[1].push);
  EXPECT_EQ(plan.transfers[1].dst, (Region{2, Buffer::out, 0, 3, 2}));
  EXPECT_EQ(plan.transfers[2].kind, TransferKind::reduce);
  EXPECT_TRUE(plan.transfers[2].push);
  EXPECT_EQ(plan.transfers[3].stage, 7);
  EXPECT_EQ(plan.transfers[3].dst, (Region{1, Buffer::out, 5, 1, 1}));
  EXPECT_TRUE(plan.transfers[4].any_order);
  EXPECT_EQ(plan.transfers[4].stage, 7);
}

TEST(Text, BearsItsName) {
  const Plan plan = read(example, "my.plan");
  EXPECT_EQ(plan.files, std::vector<std::string>{"my.plan"});
  EXPECT_EQ(plan.transfers[4].file, 0);
}

TEST(Text, RoundTrip) {
  EXPECT_EQ(print(read(example)), example);
  const std::string rooted =
      "tutti-plan 1\ncollective bcast\nranks 4\nroot 2\nblocks 1\ncopy out[0] <- in[2]\n";
  EXPECT_EQ(print(read(rooted)), rooted);
  const std::string in_two =
      "tutti-plan 1\ncollective bcast\nranks 2\nroot 0\nblocks 1\nlast 65536\ncopy out[1] <- "
      "in[0]\n";
  EXPECT_EQ(print(read(in_two)), in_two);
  EXPECT_EQ(read(in_two).last_segment, 65536);
}

TEST(Text, ToleratesSpacesCommentsAndLineEnds) {
  const Plan plan = read(
      "# a plan\r\n\r\n  tutti-plan\t1 # version\r\nranks   2\r\ncollective barrier\r\n\r\n"
      "copy  out [ 1 ] . 0 + 1 / 1<-in[0]#no space\r\n  reduce out[0]<-in[0],in[1]");
  EXPECT_EQ(plan.ranks, 2);
  ASSERT_EQ(plan.transfers.size(), 2u);
  EXPECT_EQ(plan.transfers[0].line, 7);
  EXPECT_EQ(plan.transfers[0].dst, out(1));
  EXPECT_EQ(plan.transfers[1].line, 8);
}

TEST(Text, RegionsAreAsShortAsTheyCanBe) {
  EXPECT_EQ(print(in(3)), "in[3]");
  EXPECT_EQ(print(tmp(3, 2)), "tmp[3].2");
  EXPECT_EQ(print(out(3, 0, 2)), "out[3].0+2");
  EXPECT_EQ(print(Region{3, Buffer::out, 1, 4, 2}), "out[3].1+4/2");
  EXPECT_EQ(print(Region{3, Buffer::out, 0, 1, 2}), "out[3].0+1/2");
}

struct Malformed {
  const char* text;
  const char* message;  // the start of it, with name and line
};

const std::string head = "tutti-plan 1\ncollective allreduce\nranks 2\nblocks 2\n";

TEST(Text, RefusesMalformedHeaders) {
  const std::vector<Malformed> table = {
      {"", "my.plan:1: the text is empty; a plan begins with 'tutti-plan 1'"},
      {"\n\n# only a comment\n", "my.plan:3: the text is empty"},
      {"collective barrier\n",
       "my.plan:1: not a plan: expected 'tutti-plan 1', found 'collective barrier'"},
      {"\n\xff\xfe\x01garbage",
       "my.plan:2: not a plan: expected 'tutti-plan 1', found '???garbage'"},
      {"tutti-plan\n", "my.plan:1: not a plan"},
      {"tutti-plan 2\n", "my.plan:1: version 2 of the plan format; this Tutti reads version 1"},
      {"tutti-plan one\n", "my.plan:1: expected the version"},
      {"tutti-plan 1 2\n", "my.plan:1: unexpected '2' at the end of the line"},
      {"tutti-plan 1\n", "my.plan:1: the plan does not say its 'collective'"},
      {"tutti-plan 1\ncollective barrier\n", "my.plan:2: the plan does not say its 'ranks'"},
      {"tutti-plan 1\ncopy out[0] <- in[0]\n", "my.plan:2: the plan does not say its 'collective'"},
      {"tutti-plan 1\ncollective gossip\n",
       "my.plan:2: there is no collective 'gossip'; it is one of barrier"},
      {"tutti-plan 1\ncolective barrier\n",
       "my.plan:2: unknown word 'colective'; is it 'collective'?"},
      {"tutti-plan 1\n17\n", "my.plan:2: unknown word '17'; a line is a setting"},
      {"tutti-plan 1\nranks\n", "my.plan:2: 'ranks' without a value"},
      {"tutti-plan 1\nranks 0\n", "my.plan:2: the number of ranks is 0; it is 1 to 1048576"},
      {"tutti-plan 1\nranks 1048577\n", "my.plan:2: the number of ranks is 1048577"},
      {"tutti-plan 1\nranks 99999999999\n",
       "my.plan:2: the number of ranks '99999999999' is too large"},
      {"tutti-plan 1\nranks -3\n",
       "my.plan:2: expected the number of ranks, a whole number of at least 0, found '-3'"},
      {"tutti-plan 1\nranks 3 4\n", "my.plan:2: unexpected '4' at the end of the line; remove it"},
      {"tutti-plan 1\nranks 3\n\nranks 3\n",
       "my.plan:4: 'ranks' a second time; the first is at my.plan:2"},
      {"tutti-plan 1\nblocks 0\n", "my.plan:2: the number of blocks is 0"},
      {"tutti-plan 1\ncommutative maybe\n", "my.plan:2: commutative is yes or no, not 'maybe'"},
      {"tutti-plan 1\ncommutative yesno\n", "my.plan:2: unexpected 'no' at the end"},
      {"tutti-plan 1\nalgorithm caf\xc3\xa9\n",
       "my.plan:2: the algorithm's label must be at most 128 printable"},
      {"tutti-plan 1\nroot 1\ncollective barrier\nranks 2\n",
       "my.plan:2: a root, which barrier has not; remove the line"},
      {"tutti-plan 1\nroot 2\ncollective bcast\nranks 2\n",
       "my.plan:2: there is no rank 2 to be the root; ranks are 0 to 1"},
      {"tutti-plan 1\nblocks 2\ncollective barrier\nranks 2\n", "my.plan:2: a barrier has 1 block"},
  };
  for (const Malformed& malformed : table) {
    EXPECT_TRUE(refusal(malformed.text).starts_with(malformed.message))
        << malformed.text << "\n"
        << refusal(malformed.text) << "\n"
        << malformed.message;
  }
}

TEST(Text, RefusesMalformedTransfers) {
  // Each is line 5.
  const std::vector<Malformed> table = {
      {"copy", "expected a region such as in[0], out[0] or tmp[0], found the end of the line"},
      {"copy foo[0] <- in[0]",
       "expected a region such as in[0], out[0] or tmp[0], found 'foo[0] <- in[0]'"},
      {"copy out <- in[0]", "expected '[' after the buffer, found '<- in[0]'"},
      {"copy out[x] <- in[0]",
       "expected a rank, a whole number of at least 0, found 'x] <- in[0]'"},
      {"copy out[0 <- in[0]", "expected ']' after the rank, found '<- in[0]'"},
      {"copy out[-1] <- in[0]",
       "expected a rank, a whole number of at least 0, found '-1] <- in[0]'"},
      {"copy out[0]", "expected '<-' after the destination, found the end of the line"},
      {"copy out[0] < - in[0]", "expected '<-' after the destination"},
      {"copy out[0] <-", "expected a region such as"},
      {"copy out[0] <- in[0],", "expected a region such as"},
      {"copy out[0] <- in[0] in[1]", "unexpected 'in[1]' at the end of the line; remove it"},
      {"copy out[0]. <- in[0]", "expected a block, a whole number"},
      {"copy out[0].1+ <- in[0]", "expected a number of blocks, a whole number"},
      {"copy out[0].1/ <- in[0]", "expected a stride, a whole number"},
      {"copy @ out[0] <- in[0]", "expected a stage, a whole number"},
      {"copy @x out[0] <- in[0]", "expected a stage, a whole number"},
      {"copy out[0].99999999999 <- in[0]",
       "a block '99999999999' is too large; at most 2147483647"},
      {"ranks 2", "'ranks' a second time; the first is at my.plan:3, keep one"},
      {"copi out[0] <- in[0]", "unknown word 'copi'; is it 'copy'?"},
      {"move out[0] <- in[0]", "unknown word 'move'; a line is a setting"},
      {"copy out[5] <- in[0]", "copy out[5] <- in[0]: there is no rank 5; ranks are 0..1"},
      {"copy out[1073741824] <- in[0]", "there is no rank 1073741824; ranks are 0..1"},
      {"copy out[0].2 <- in[0]",
       "copy out[0].2 <- in[0]: there is no block 2 in out[0].2; blocks are 0..1"},
      {"copy out[0].0+2147483647/2147483647 <- in[0]",
       "copy out[0].0+2147483647/2147483647 <- in[0]: there is no block"},
      {"copy out[0].0+0 <- in[0]", "copy out[0].0+0 <- in[0]: a region of 0 blocks"},
      {"copy out[0].0+1/0 <- in[0]", "copy out[0].0+1/0 <- in[0]: a stride of 0"},
      {"copy out[0] <- in[0], in[1]", "copy out[0] <- in[0], in[1]: a copy of 2 sources"},
      {"reduce out[0] <- in[0]", "reduce out[0] <- in[0]: a reduce of 1 sources"},
      {"copy in[0] <- in[1]", "copy in[0] <- in[1]: it writes `in`"},
      {"push out[0] <- in[0], in[1]", "push out[0] <- in[0], in[1]: pushed from ranks 0 and 1"},
      {"copy out[0].0+2 <- in[0]",
       "copy out[0].0+2 <- in[0]: in[0] has 1 blocks and the destination 2"},
      {"token", "expected a rank, a whole number of at least 0, found the end of the line"},
      {"token 0", "expected '<-' after the rank, found the end of the line"},
      {"token 0 <-", "expected a rank, a whole number"},
      {"token out[0] <- 1", "expected a rank, a whole number"},
      {"token 0 <- 0", "token 0 <- 0: a token from a rank to itself"},
      {"token 2 <- 0", "token 2 <- 0: there is no rank 2; ranks are 0..1"},
      {"token 0 <- 2147483647", "there is no rank 2147483647; ranks are 0..1"},
      {"token 0 <- 1, 5", "token 0 <- 1, 5: there is no rank 5"},
      {"copy @9999999 out[0] <- in[0]",
       "copy @9999999 out[0] <- in[0]: stage 9999999; stages are 0..1048576"},
  };
  for (const Malformed& malformed : table) {
    const std::string message = refusal(head + malformed.text + "\n");
    EXPECT_TRUE(message.starts_with(std::string("my.plan:5: ") + malformed.message))
        << malformed.text << "\n"
        << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST(Text, RefusesWhatIsOutOfPlace) {
  EXPECT_EQ(refusal(head + "copy out[0] <- in[0]\nroot 0\n"),
            "my.plan:6: 'root' after the first transfer; move it before the transfers");
  EXPECT_TRUE(refusal(head + "copy @2 out[0] <- in[0]\ncopy @1 out[1] <- in[0]\n")
                  .starts_with("my.plan:6: copy @1 out[1] <- in[0]: stage 1 after stage 2"));
  EXPECT_TRUE(refusal(head + "copy @2 out[0] <- in[0]\n\ncopy out[1] <- in[0]\n")
                  .starts_with("my.plan:7: copy out[1] <- in[0]: it has no stage"));
}

TEST(Text, RefusesWrongOrdersAndShapes) {
  const std::vector<Malformed> table = {
      {"reduce any out[0] <- in[0], in[1]\n",
       "my.plan:5: reduce any out[0] <- in[0], in[1]: a reduce in any order in a plan that keeps "
       "rank order"},
      {"commutative yes\nreduce any out[0] <- in[0]\n",
       "my.plan:6: reduce any out[0] <- in[0]: a reduce of 1 sources"},
      {"commutative yes\nreduce anyone out[0] <- in[0], in[1]\n",
       "my.plan:6: expected a region such as in[0], out[0] or tmp[0], found 'anyone"},
      {"commutative yes\nreduce any any out[0] <- in[0], in[1]\n", "my.plan:6: expected a region"},
      {"copy any out[0] <- in[0]\n", "my.plan:5: expected a region"},
      {"push any out[0] <- in[1], in[1]\n", "my.plan:5: expected a region"},
      {"shape\n", "my.plan:5: 'shape' without a value"},
      {"shape numa\n",
       "my.plan:5: the machine's shape must be words such as 'node:4 numa:2 core:8'"},
      {"shape node:1\nshape node:1\n", "my.plan:6: 'shape' a second time"},
  };
  for (const Malformed& malformed : table) {
    const std::string message = refusal(head + malformed.text);
    EXPECT_TRUE(message.starts_with(malformed.message)) << malformed.text << message;
  }
}

TEST(Text, LongLinesAreCutInMessages) {
  EXPECT_LT(refusal(head + std::string(100000, 'x')).size(), 250u);
  EXPECT_LT(refusal(head + "copy out[0] <- " + std::string(100000, '[')).size(), 250u);
  EXPECT_LT(refusal(head + "copy out[" + std::string(100000, '7') + "] <- in[0]").size(), 250u);
}

// Text is untrusted: any text is either read or refused with its line, and a text that was read
// prints and reads again.
TEST(Text, ChangedBytesAreReadOrRefused) {
  ChangedText changed(example, "0123456789[]<-,.+/@#\n\r\t intoupmcyreds_\xff\x01", 3);
  changed.expect_read_or_refused("my.plan", 500, [](const std::string& text) {
    const std::string printed = print(read(text, "my.plan"));
    ASSERT_EQ(print(read(printed)), printed) << text;
  });
}

}  // namespace
}  // namespace tutti::plan
