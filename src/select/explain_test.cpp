#include "select/explain.h"

#include <gtest/gtest.h>

namespace tutti::select {
namespace {

using plan::Collective;

Call allreduce_of(size_t bytes) {
  return {.collective = Collective::allreduce,
          .bytes = bytes,
          .ranks = 4,
          .shape = {},
          .root = 0,
          .oversubscribed = true};
}

TEST(Explain, NamesTheRuleAndWhatIsBehindIt) {
  const Explanation explanation = explain(allreduce_of(1 << 18), {});
  ASSERT_EQ(explanation.considered.size(), 1u);
  EXPECT_TRUE(explanation.considered[0].place.starts_with("default.map:"));
  EXPECT_EQ(explanation.considered[0].rule,
            "allreduce oversubscribed yes -> builtin:tiled segment 64K");
  EXPECT_EQ(explanation.segment_bytes, 64u * 1024);
  EXPECT_EQ(explanation.segment_place, explanation.considered[0].place);
  EXPECT_EQ(explanation.sizes.low, 32768u);
  EXPECT_EQ(explanation.sizes.high, 524287u);
  EXPECT_EQ(explain(allreduce_of(1 << 20), {}).considered.size(), 2u);
  EXPECT_EQ(explain(allreduce_of(8), {}).considered.size(), 3u);
}

TEST(Explain, PutsWhatOverridesInFront) {
  const Table users =
      read_table("tutti-map 1\nallreduce sizes 1K..2K -> builtin:binomial segment 8K\n", "mine");
  Library library;
  Rule by_plan = read_map("tutti-map 1\nallreduce ranks 4 -> own.plan\n").rules[0];
  auto plan = std::make_shared<LoadedPlan>();
  plan->file = "own.plan";
  plan->plan.collective = Collective::allreduce;
  plan->plan.ranks = 8;
  library.rules.push_back({by_plan, "DIR/map:2", plan});
  Overrides overrides;
  overrides.table = &users;
  overrides.library = &library;
  const Explanation by_table = explain(allreduce_of(1024), overrides);
  EXPECT_EQ(by_table.considered[0].place, "DIR/map:2");
  EXPECT_EQ(by_table.considered[0].refused, "it is for 8 ranks, the communicator has 4");
  EXPECT_EQ(by_table.chosen, 1u);
  EXPECT_EQ(by_table.considered[1].place, "mine:2");
  EXPECT_EQ(by_table.segment_bytes, 8192u);
  EXPECT_EQ(by_table.sizes.high, 2048u);
  overrides.algorithm[static_cast<size_t>(Collective::allreduce)] = "flat";
  overrides.segment_bytes = 4096;
  const Explanation by_word = explain(allreduce_of(1024), overrides);
  EXPECT_EQ(by_word.chosen, 0u);
  EXPECT_EQ(by_word.considered[0].rule, "TUTTI_ALGORITHM_ALLREDUCE=flat");
  EXPECT_EQ(by_word.segment_place, "TUTTI_SEGMENT_BYTES");
  EXPECT_EQ(by_word.segment_bytes, 4096u);
}

TEST(Explain, SaysWhichWaysReadersGoAndWhoWantsIt) {
  const Table users =
      read_table("tutti-map 1\nallreduce sizes 1K.. -> builtin:binomial reach cma\n", "mine");
  Overrides overrides;
  overrides.table = &users;
  const Explanation by_rule = explain(allreduce_of(1024), overrides);
  EXPECT_EQ(by_rule.reach, ReachChoice::cma);
  EXPECT_EQ(by_rule.reach_place, "mine:2");
  EXPECT_TRUE(explain(allreduce_of(8), overrides).reach_place.empty());
  EXPECT_TRUE(users_rules_ask_for_cma(overrides));
  overrides.reach = ReachChoice::staged;
  EXPECT_EQ(explain(allreduce_of(1024), overrides).reach, ReachChoice::staged);
  EXPECT_EQ(explain(allreduce_of(1024), overrides).reach_place, "TUTTI_REACH");
  EXPECT_EQ(choose(allreduce_of(1024), overrides).reach, ReachChoice::automatic);
}

TEST(Explain, FindsOutWhetherServersMayExchangeAlltoalls) {
  Overrides overrides;
  EXPECT_FALSE(may_go_by_servers(overrides));
  const Table users = read_table("tutti-map 1\nalltoall -> builtin:direct:128:served\n", "mine");
  overrides.table = &users;
  EXPECT_TRUE(may_go_by_servers(overrides));
  Overrides by_word;
  by_word.algorithm[static_cast<size_t>(plan::Collective::alltoall)] = "direct:served";
  EXPECT_TRUE(may_go_by_servers(by_word));
}

// An explanation is of what choose() does.
TEST(Explain, AgreesWithChoose) {
  const Table users = read_table(
      "tutti-map 1\nallreduce ranks 4 sizes 100..200 -> builtin:tiled segment 8K\nscan "
      "oversubscribed * -> builtin:flat\n",
      "mine");
  for (const bool with_table : {false, true}) {
    for (const char* word : {"", "flat"}) {
      for (int i = 0; i < plan::collective_count; ++i) {
        for (const size_t bytes : {0, 8, 100, 200, 201, 4096, 40000, 1 << 20}) {
          Overrides overrides;
          if (with_table) overrides.table = &users;
          overrides.algorithm[static_cast<size_t>(i)] = word;
          Call call = allreduce_of(bytes);
          call.collective = static_cast<Collective>(i);
          const Choice choice = choose(call, overrides);
          const Explanation explanation = explain(call, overrides);
          EXPECT_EQ(explanation.considered[explanation.chosen].target, choice.algorithm);
          EXPECT_EQ(explanation.segment_bytes, choice.segment_bytes);
          EXPECT_EQ(explanation.sizes.low, choice.bytes_low);
          EXPECT_EQ(explanation.sizes.high, choice.bytes_high);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tutti::select
