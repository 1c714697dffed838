#include "select/map.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/segments.h"
#include "plan/test_changed_text.h"

namespace tutti::select {
namespace {

using plan::Collective;

constexpr const char* example = R"(tutti-map 1
allreduce ranks 8 shape node:2 core:4 sizes ..64K -> two-groups.tree
allreduce ranks 2..16 sizes 1M.. -> builtin:tiled segment 32K
bcast sizes 8..1000 root 3 -> trees/pipeline.plan
reduce ranks 4.. oversubscribed yes known yes sizes 8 -> builtin:nary:4
barrier oversubscribed no -> builtin:all_read_all
)";

std::string refusal(std::string_view text) {
  try {
    read_map(text, "map");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_plan);
    return error.what();
  }
  return {};
}

TEST(Map, ReadsEveryPart) {
  const Map map = read_map(example);
  ASSERT_EQ(map.rules.size(), 5u);
  const Rule& first = map.rules[0];
  EXPECT_EQ(first.collective, Collective::allreduce);
  EXPECT_EQ(first.ranks_low, 8);
  EXPECT_EQ(first.ranks_high, 8);
  EXPECT_EQ(topo::print(first.shape), "node:2 core:4");
  EXPECT_EQ(first.bytes_low, 0u);
  EXPECT_EQ(first.bytes_high, 65536u);
  EXPECT_EQ(first.root, any_root);
  EXPECT_EQ(first.oversubscribed, YesNo::any);
  EXPECT_FALSE(first.builtin);
  EXPECT_EQ(first.target, "two-groups.tree");
  EXPECT_EQ(first.line, 2);
  const Rule& second = map.rules[1];
  EXPECT_TRUE(second.builtin);
  EXPECT_EQ(second.target, "tiled");
  EXPECT_EQ(second.bytes_low, size_t{1} << 20);
  EXPECT_EQ(second.bytes_high, SIZE_MAX);
  EXPECT_EQ(second.segment_bytes, 32768u);
  EXPECT_EQ(map.rules[2].root, 3);
  EXPECT_EQ(map.rules[3].target, "nary:4");
  EXPECT_EQ(map.rules[3].oversubscribed, YesNo::yes);
  EXPECT_EQ(map.rules[3].known, YesNo::yes);
  EXPECT_EQ(map.rules[4].known, YesNo::any);
  EXPECT_EQ(map.rules[4].oversubscribed, YesNo::no);
  EXPECT_EQ(map.rules[4].ranks_high, plan::max_ranks);
}

TEST(Map, RoundTrip) {
  EXPECT_EQ(print(read_map(example)), example);
  EXPECT_EQ(print(read_map("# mine\r\n\r\n tutti-map\t1 #\r\n  bcast root * sizes * shape * ranks "
                           "* oversubscribed * -> x.plan# that is it")),
            "tutti-map 1\nbcast -> x.plan\n");
  // The word of earlier maps.
  EXPECT_EQ(print(read_map("tutti-map 1\nbcast crowded yes -> builtin:flat\n")),
            "tutti-map 1\nbcast oversubscribed yes -> builtin:flat\n");
  const std::string halves = "tutti-map 1\nbcast -> builtin:binomial segment halves\n";
  const std::string where =
      "tutti-map 1\nbcast reached yes socket 2.. numa 4 -> x.plan\nbcast reached no -> x.plan\n";
  EXPECT_EQ(read_map(where).rules.front().reached, YesNo::yes);
  EXPECT_EQ(read_map(where).rules.front().sockets_low, 2);
  EXPECT_EQ(print(read_map(where)), where);
  EXPECT_EQ(print(read_map("tutti-map 1\nbcast socket * reached * -> x.plan")),
            "tutti-map 1\nbcast -> x.plan\n");
  const std::string ways =
      "tutti-map 1\nbcast -> x.plan segment 8K reach cma\nbcast -> x.plan reach staged\nbcast -> "
      "builtin:flat reach direct\n";
  EXPECT_EQ(read_map(ways).rules[0].reach, ReachChoice::cma);
  EXPECT_EQ(read_map(ways).rules[1].reach, ReachChoice::staged);
  EXPECT_EQ(read_map(where).rules[0].reach, ReachChoice::automatic);
  EXPECT_EQ(print(read_map(ways)), ways);
  EXPECT_EQ(read_map(halves).rules.front().segment_bytes, segment_halves);
  EXPECT_EQ(print(read_map(halves)), halves);
}

TEST(Map, RefusesMalformedText) {
  const std::vector<std::pair<const char*, const char*>> table = {
      {"", "map:1: the text is empty; a map begins with 'tutti-map 1'"},
      {"\n# nothing\n", "map:2: the text is empty"},
      {"barrier -> builtin:flat",
       "map:1: not a map: expected 'tutti-map 1', found \"barrier -> builtin:flat\""},
      {"tutti-map", "map:1: not a map"},
      {"tutti-map 2", "map:1: version \"2\" of the map format; this Tutti reads version 1"},
      {"tutti-map 1 1", "map:1: unexpected \"1\" at the end of the line; remove it"},
  };
  for (const auto& [text, message] : table)
    EXPECT_TRUE(refusal(text).starts_with(message)) << text << "\n" << refusal(text);
}

TEST(Map, RefusesMalformedRules) {
  const std::vector<std::pair<const char*, const char*>> table = {
      {"gossip -> x.plan",
       "there is no collective \"gossip\"; a rule begins with one of barrier, bcast"},
      {"barrier", "the rule ends without -> and the plan that serves it"},
      {"barrier ->",
       "expected the name of a .plan or .tree file, or builtin:ALGORITHM, behind ->, found the end "
       "of the line"},
      {"barrier rank 8 -> x.plan",
       "unknown word \"rank\"; conditions are ranks, oversubscribed, reached, shape, clusters, "
       "nodes, socket, numa, cache, known, sizes and root, then comes ->"},
      {"barrier -> builtin:na\x01ry",
       "\"builtin:na?ry\" is no name of a plan; it has at most 255 characters, all of which can be "
       "printed"},
      {"barrier -> a\x7f.plan", "\"a?.plan\" is no name of a plan"},
      {"barrier x.plan", "unknown word \"x.plan\""},
      {"barrier ranks 8 ranks 8 -> x.plan", "\"ranks\" a second time; keep one"},
      {"barrier ranks -> x.plan", "expected a number of ranks as 8, 2..16, 8.. or *, found \"->\""},
      {"barrier ranks",
       "expected a number of ranks as 8, 2..16, 8.. or *, found the end of the line"},
      {"barrier oversubscribed maybe -> x.plan",
       "expected yes, no or * behind oversubscribed, found \"maybe\""},
      {"barrier oversubscribed",
       "expected yes, no or * behind oversubscribed, found the end of the line"},
      {"barrier reached maybe -> x.plan", "expected yes, no or * behind reached, found \"maybe\""},
      {"barrier socket 0 -> x.plan",
       "expected a number of sockets as 8, 2..16, 8.. or *, found \"0\""},
      {"barrier oversubscribed no oversubscribed no -> x.plan",
       "\"oversubscribed\" a second time; keep one"},
      {"barrier ranks 0 -> x.plan",
       "expected a number of ranks as 8, 2..16, 8.. or *, found \"0\""},
      {"barrier ranks 1048577 -> x.plan", "expected a number of ranks"},
      {"barrier ranks 8K -> x.plan", "expected a number of ranks"},
      {"barrier ranks .. -> x.plan", "expected a number of ranks"},
      {"barrier ranks 4..2 -> x.plan", "the range \"4..2\" is empty; write LOW..HIGH"},
      {"barrier ranks 4..x -> x.plan", "expected a number of ranks"},
      {"barrier sizes 8 -> x.plan", "a barrier has no bytes; leave sizes out"},
      {"bcast sizes 8T -> x.plan", "expected sizes as 8, 8..64K, 1M.. or *, found \"8T\""},
      {"bcast sizes 99999999999999999999 -> x.plan", "expected sizes"},
      {"bcast sizes 9999999999999G -> x.plan", "expected sizes"},
      {"bcast sizes -8 -> x.plan", "expected sizes"},
      {"bcast shape -> x.plan", "expected a shape such as node:2 core:4, or *, behind shape"},
      {"bcast shape core:2 node:2 -> x.plan",
       "shape \"core:2 node:2 \": \"node:2\" stands behind core"},
      {"bcast root -1 -> x.plan", "expected a root, a rank's number or *, found \"-1\""},
      {"bcast root 1048576 -> x.plan", "expected a root"},
      {"allreduce root 0 -> x.plan", "a root, which allreduce has not; leave it out"},
      {"barrier -> x",
       "\"x\" is no plan; give the name of a .plan or .tree file, or builtin:ALGORITHM"},
      {"barrier -> /etc/x.plan", "\"/etc/x.plan\" leads out of the map's directory"},
      {"barrier -> a/../../x.plan", "\"a/../../x.plan\" leads out of the map's directory"},
      {"barrier -> builtin:tilde", "unknown algorithm 'tilde'"},
      {"barrier -> builtin:tiled", "algorithm 'tiled' does not serve barrier"},
      {"barrier -> builtin:nary:1",
       "algorithm 'nary:1': the degree must be a number of at least 2"},
      {"bcast -> x.plan segment",
       "expected a number of bytes or halves behind segment, found the end of the line"},
      {"bcast -> x.plan segment 0",
       "expected a number of bytes such as 32K, or halves, behind segment, found \"0\""},
      {"bcast -> x.plan segment half",
       "expected a number of bytes such as 32K, or halves, behind segment, found \"half\""},
      {"bcast -> x.plan segments 8", "unexpected \"segments\" at the end of the line; remove it"},
      {"bcast -> x.plan reach",
       "expected staged, direct or cma behind reach, found the end of the line"},
      {"bcast -> x.plan reach net", "expected staged, direct or cma behind reach, found \"net\""},
      {"bcast -> x.plan reach cma segment 8K",
       "unexpected \"segment\" at the end of the line; remove it"},
      {"bcast -> x.plan segment 8K y", "unexpected \"y\" at the end of the line; remove it"},
  };
  for (const auto& [rule, message] : table) {
    const std::string said = refusal("tutti-map 1\n\n" + std::string(rule) + "\n");
    EXPECT_TRUE(said.starts_with(std::string("map:3: ") + message)) << rule << "\n" << said;
    EXPECT_EQ(said.find('\n'), std::string::npos);
  }
  EXPECT_LT(refusal("tutti-map 1\nbarrier " + std::string(100000, 'x')).size(), 300u);
}

TEST(Map, BoundsItsSize) {
  std::string text = "tutti-map 1\n";
  for (size_t i = 0; i < max_rules; ++i) text += "barrier -> x.plan\n";
  EXPECT_EQ(read_map(text).rules.size(), max_rules);
  EXPECT_TRUE(refusal(text + "barrier -> x.plan\n").starts_with("map:4098: more than 4096 rules"));
}

TEST(Map, ChangedBytesAreReadOrRefused) {
  plan::ChangedText changed(example, "0123456789.:*>-KM/#\n\r\t ranksizeoplt\xff\x01", 7);
  changed.expect_read_or_refused("map", 500, [](const std::string& text) {
    const std::string printed = print(read_map(text));
    ASSERT_EQ(print(read_map(printed)), printed) << text;
  });
}

}  // namespace
}  // namespace tutti::select
