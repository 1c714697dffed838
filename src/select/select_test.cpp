#include "select/select.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "algo/algo.h"
#include "base/segments.h"

namespace tutti::select {
namespace {

using plan::Collective;

const std::vector<Collective>& collectives() {
  static const std::vector<Collective> all = [] {
    std::vector<Collective> made;
    for (int i = 0; i < plan::collective_count; ++i) made.push_back(static_cast<Collective>(i));
    return made;
  }();
  return all;
}

std::string shown(const Choice& choice) {
  const std::string segment =
      choice.segment_bytes == segment_halves ? "halves" : std::to_string(choice.segment_bytes);
  return std::string(choice.algorithm) + (choice.segment_bytes == 0 ? "" : " " + segment);
}

std::string chosen(Collective collective, size_t bytes, int ranks, bool oversubscribed,
                   const Overrides& overrides = {}) {
  return shown(choose(collective, bytes, ranks, oversubscribed, overrides));
}

// Every choice is an algorithm that serves the collective, and its range holds the size that was
// asked for.
TEST(Choose, AlwaysAnswers) {
  for (const Collective collective : collectives()) {
    for (const bool oversubscribed : {false, true}) {
      for (const Reproducible reproducible : {Reproducible::off, Reproducible::placement}) {
        for (const int ranks : {1, 2, 3, 4, 8, 16, 17, 64, 4096, plan::max_ranks}) {
          for (const size_t bytes :
               std::initializer_list<size_t>{0, 8, 48, 49, 2048, 2049, 1 << 22, SIZE_MAX}) {
            Overrides overrides;
            overrides.reproducible = reproducible;
            const Choice choice = choose(collective, bytes, ranks, oversubscribed, overrides);
            EXPECT_LE(choice.bytes_low, bytes);
            EXPECT_GE(choice.bytes_high, bytes);
            EXPECT_NO_THROW(algo::generate(collective, choice.algorithm, 2, 0)) << choice.algorithm;
          }
        }
      }
    }
  }
}

// On levels too, and what is chosen serves the operation, however ranks are dealt.
TEST(Choose, AnswersOnLevelsWithWhatServes) {
  std::vector<int32_t> by_halves, by_turns;
  for (int rank = 0; rank < 16; ++rank) {
    by_halves.push_back(rank / 8);
    by_turns.push_back(rank % 2);
  }
  const std::vector<placement::SharedLevel> found{{"numa", by_halves, 1}, {"numa", by_turns, 1}};
  Overrides overrides;
  overrides.algorithm[static_cast<size_t>(Collective::allreduce)] = "dissemination";
  for (const placement::SharedLevel& level : found) {
    const placement::Levels levels({level});
    for (const Collective collective : collectives()) {
      for (const bool rank_order : {false, true}) {
        for (const size_t bytes : {size_t{8}, size_t{4096}, size_t{1} << 20}) {
          Call call{.collective = collective,
                    .bytes = bytes,
                    .ranks = 16,
                    .shape = {},
                    .root = 0,
                    .rank_order = rank_order};
          call.same_expression = rank_order;
          call.levels = &levels;
          const Choice choice = choose(call, overrides);
          EXPECT_NO_THROW(algo::generate(collective, choice.algorithm, 16, 0, levels))
              << choice.algorithm;
          EXPECT_EQ(refusal(choice.algorithm, call), "");
        }
      }
    }
  }
  const placement::Levels halves({found[0]});
  Call call{.collective = Collective::bcast, .bytes = 65536, .ranks = 16, .shape = {}, .root = 0};
  EXPECT_EQ(choose(call, {}).algorithm, "flat");
  call.levels = &halves;
  EXPECT_EQ(choose(call, {}).algorithm, "levels:flat");
  call.oversubscribed = true;
  EXPECT_EQ(choose(call, {}).algorithm, "flat");
}

// Sockets that are no numa regions, around several of them or several in one, are borders as numa
// regions are.
TEST(Choose, AnswersForSockets) {
  const placement::Levels alone = placement::read_levels("socket:0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1");
  const placement::Levels around = placement::read_levels(
      "socket:0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1 numa:0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3");
  const placement::Levels regions = placement::read_levels("numa:0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1");
  const placement::Levels four = placement::read_levels("numa:0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3");
  for (const Collective collective :
       {Collective::barrier, Collective::bcast, Collective::reduce, Collective::allreduce}) {
    for (const size_t bytes : {size_t{8}, size_t{4096}, size_t{1} << 20}) {
      Call call{.collective = collective, .bytes = bytes, .ranks = 16, .shape = {}, .root = 0};
      for (const auto& [levels, as] : {std::pair{&alone, &regions}, std::pair{&around, &four}}) {
        call.levels = as;
        const Choice expected = choose(call, {});
        call.levels = levels;
        EXPECT_EQ(choose(call, {}).algorithm, expected.algorithm)
            << plan::name(collective) << " " << levels->contents();
      }
    }
  }
  const Table users = read_table(
      "tutti-map 1\nbcast socket 2 numa 1 -> builtin:nary:4\nbcast socket 2.. -> "
      "builtin:binomial\n",
      "mine");
  Overrides overrides;
  overrides.table = &users;
  const auto chosen_on = [&](const placement::Levels& levels) {
    Call call{.collective = Collective::bcast, .bytes = 64, .ranks = 16, .shape = {}, .root = 0};
    call.levels = &levels;
    return choose(call, overrides).algorithm;
  };
  EXPECT_EQ(chosen_on(alone), "nary:4");
  EXPECT_EQ(chosen_on(around), "binomial");
  EXPECT_EQ(chosen_on(regions), "flat");
  EXPECT_EQ(chosen_on(four), "levels:flat");
}

// So many ranks in as many equal runs, one in each numa region (or unit of another level).
placement::Levels regions_of(int ranks, int regions, const char* level = "numa") {
  std::vector<int32_t> group_of;
  for (int rank = 0; rank < ranks; ++rank) group_of.push_back(rank * regions / ranks);
  return placement::Levels({{level, group_of, 1}});
}

// Ranks of one region whose groups share caches.
TEST(Choose, TheDefaultForSharedCachesIsGolden) {
  struct Golden {
    Collective collective;
    int ranks;
    size_t bytes;
    const char* algorithm;
  };
  const std::vector<Golden> table = {
      {Collective::barrier, 16, 0, "staggered:16"},
      {Collective::bcast, 16, 8, "flat"},
      {Collective::bcast, 56, 8193, "flat 4096"},
      {Collective::bcast, 64, 8193, "nary:8 4096"},
      {Collective::bcast, 64, 49, "flat"},
      {Collective::bcast, 128, 48, "flat"},
      {Collective::bcast, 128, 49, "levels:flat 4096"},
      {Collective::bcast, 129, 8193, "nary:16 4096"},
      {Collective::reduce, 16, 256, "levels:binomial:stepwise"},
      {Collective::reduce, 16, 4097, "tiled:levels 32768"},
      {Collective::reduce, 64, 4095, "levels:binomial:stepwise"},
      {Collective::reduce, 64, 4096, "tiled:levels 32768"},
      {Collective::reduce, 96, 24576, "tiled:levels 32768"},
      {Collective::reduce, 96, 24577, "binary:stepwise 4096"},
      {Collective::reduce, 97, 4096, "levels:binomial:stepwise"},
      {Collective::reduce, 64, 48, "nary:8"},
      {Collective::reduce, 128, 48, "levels:flat"},
      {Collective::reduce, 129, 48, "nary:16"},
      {Collective::reduce, 64, 524289, "binary:stepwise 4096"},
      {Collective::allreduce, 16, 256, "levels:binomial:one_stage:stepwise"},
      {Collective::allreduce, 16, 4096, "tiled:levels 32768"},
      {Collective::allreduce, 17, 4096, "levels:binomial:one_stage:stepwise"},
      {Collective::allreduce, 64, 4096, "tiled:levels 32768"},
      {Collective::allreduce, 96, 4096, "tiled:levels 32768"},
      {Collective::allreduce, 97, 4096, "levels:binomial:one_stage:stepwise"},
      {Collective::allreduce, 64, 524289, "levels:binary:one_stage:stepwise 4096"},
  };
  for (const Golden& golden : table) {
    const placement::Levels levels = regions_of(golden.ranks, golden.ranks / 8, "cache");
    Call call{.collective = golden.collective,
              .bytes = golden.bytes,
              .ranks = golden.ranks,
              .shape = {},
              .root = 0};
    call.levels = &levels;
    EXPECT_EQ(shown(choose(call, {})), golden.algorithm)
        << plan::name(golden.collective) << " of " << golden.bytes << " bytes, " << golden.ranks;
  }
}

// On both sides of each edge: whoever changes it asks `tutti model rules`.
TEST(Choose, TheDefaultForSeveralRegionsIsGolden) {
  struct Golden {
    Collective collective;
    int ranks, regions;
    size_t bytes;
    const char* algorithm;
    bool rank_order = false;
  };
  const std::vector<Golden> table = {
      {Collective::barrier, 4, 2, 0, "all_read_all"},
      {Collective::barrier, 5, 2, 0, "dissemination"},
      {Collective::barrier, 12, 4, 0, "dissemination"},
      {Collective::barrier, 16, 4, 0, "levels:flat"},
      {Collective::bcast, 4, 2, 64, "flat"},
      {Collective::bcast, 12, 2, 8192, "flat"},
      {Collective::bcast, 12, 2, 8193, "levels:flat"},
      {Collective::bcast, 12, 3, 8, "levels:flat"},
      {Collective::reduce, 12, 2, 255, "levels:flat:binary:stepwise"},
      {Collective::reduce, 12, 2, 256, "tiled:levels"},
      {Collective::reduce, 12, 2, 16384, "tiled:levels 24576"},
      {Collective::allreduce, 4, 2, 8, "all_read_all"},
      {Collective::allreduce, 12, 2, 255, "doubling"},
      {Collective::allreduce, 16, 2, 255, "doubling"},
      {Collective::allreduce, 32, 4, 255, "levels:flat:binary:stepwise"},
      {Collective::allreduce, 12, 2, 256, "tiled:levels"},
      {Collective::allreduce, 12, 2, 4095, "tiled:levels"},
      {Collective::allreduce, 12, 2, 4096, "ring"},
      {Collective::allreduce, 12, 2, 4096, "tiled:levels", true},
      {Collective::allreduce, 12, 2, 16384, "tiled:levels 24576", true},
      {Collective::allgather, 12, 2, 48, "doubling"},
      {Collective::allgather, 12, 2, 127, "all_read_all"},
      {Collective::allgather, 12, 2, 128, "ring"},
      {Collective::reduce_scatter, 12, 2, 255, "flat"},
      {Collective::reduce_scatter, 12, 2, 256, "ring"},
      {Collective::reduce_scatter, 12, 2, 256, "flat", true},
      {Collective::allgather, 48, 4, 48, "all_read_all"},
      {Collective::barrier, 32, 3, 0, "all_read_all"},
      {Collective::barrier, 32, 4, 0, "levels:flat"},
      {Collective::barrier, 48, 8, 0, "staggered:16"},
      {Collective::barrier, 193, 8, 0, "nary:16"},
      {Collective::barrier, 128, 16, 0, "levels:flat"},
      {Collective::bcast, 32, 4, 8, "levels:flat"},
      {Collective::bcast, 64, 3, 8193, "flat 4096"},
      {Collective::bcast, 56, 4, 8193, "flat 4096"},
      {Collective::bcast, 64, 4, 8193, "nary:16 4096"},
      {Collective::bcast, 96, 2, 8192, "flat 4096"},
      {Collective::bcast, 97, 2, 8192, "levels:flat 4096"},
      {Collective::bcast, 128, 3, 8193, "nary:16 4096"},
      {Collective::bcast, 129, 2, 8193, "nary:16 4096"},
      {Collective::bcast, 128, 16, 8, "levels:flat"},
      {Collective::reduce, 32, 4, 49, "levels:binomial:stepwise"},
      {Collective::reduce, 32, 4, 16384, "tiled:levels 24576"},
      {Collective::reduce, 33, 8, 16384, "binary:stepwise 4096"},
      {Collective::reduce, 128, 16, 256, "tiled:levels"},
      {Collective::reduce, 32, 3, 48, "flat"},
      {Collective::reduce, 32, 4, 48, "nary:8"},
      {Collective::allreduce, 56, 4, 48, "all_read_all"},
      {Collective::allreduce, 57, 4, 48, "levels:8:one_stage"},
      {Collective::allreduce, 81, 4, 48, "levels:16:one_stage"},
      {Collective::allreduce, 129, 4, 48, "nary:16"},
      {Collective::allreduce, 96, 4, 24575, "levels:binary:one_stage:stepwise 4096"},
      {Collective::allreduce, 96, 4, 24576, "binary:stepwise 4096"},
      {Collective::allreduce, 97, 4, 12289, "binary:stepwise 4096"},
      {Collective::allreduce, 32, 3, 4096, "levels:binomial:one_stage:stepwise"},
      {Collective::allreduce, 32, 3, 24575, "levels:binary:one_stage:stepwise 4096"},
      {Collective::allreduce, 32, 3, 24576, "tiled:levels 131072"},
      {Collective::allreduce, 32, 4, 4096, "ring"},
      {Collective::allreduce, 48, 8, 4096, "levels:binomial:one_stage:stepwise"},
      {Collective::allreduce, 128, 16, 4096, "tiled:levels"},
  };
  for (const Golden& golden : table) {
    const placement::Levels levels = regions_of(golden.ranks, golden.regions);
    Call call{.collective = golden.collective,
              .bytes = golden.bytes,
              .ranks = golden.ranks,
              .shape = {},
              .root = 0,
              .rank_order = golden.rank_order};
    call.levels = &levels;
    EXPECT_EQ(shown(choose(call, {})), golden.algorithm)
        << plan::name(golden.collective) << " of " << golden.bytes << " bytes, " << golden.ranks
        << " ranks in " << golden.regions << " regions";
  }
}

// Without levels it is known that ranks are equally near, or nothing is known.
TEST(Choose, AnswersForLevelsThatAreKnown) {
  std::string cores = "core:0";
  for (int core = 1; core < 128; ++core) cores += "," + std::to_string(core);
  const placement::Levels known = placement::read_levels(cores);
  Call call{.collective = Collective::bcast, .bytes = 65536, .ranks = 128, .shape = {}, .root = 0};
  EXPECT_EQ(shown(choose(call, {})), "nary:16 4096");
  call.levels = &known;
  EXPECT_EQ(shown(choose(call, {})), "flat 4096");
  const Table users = read_table(
      "tutti-map 1\nbcast known no -> builtin:nary:4\nbcast known yes -> builtin:binomial\n",
      "mine");
  Overrides overrides;
  overrides.table = &users;
  EXPECT_EQ(choose(call, overrides).algorithm, "binomial");
  call.nodes = 2;
  EXPECT_EQ(choose(call, overrides).algorithm, "nary:4");
}

TEST(Choose, AnswersForMemoryThatRanksReach) {
  const Table users = read_table(
      "tutti-map 1\nbcast reached yes sizes 4K.. -> builtin:nary:4\nbcast reached no sizes 8.. -> "
      "builtin:binomial\n",
      "mine");
  Overrides overrides;
  overrides.table = &users;
  Call call{.collective = Collective::bcast, .bytes = 4096, .ranks = 4, .shape = {}, .root = 0};
  EXPECT_EQ(choose(call, overrides).algorithm, "binomial");
  EXPECT_EQ(choose(call, overrides).bytes_low, 8u);
  call.reached = true;
  EXPECT_EQ(choose(call, overrides).algorithm, "nary:4");
  call.bytes = 100;
  EXPECT_EQ(choose(call, overrides).algorithm, "flat");
  EXPECT_EQ(choose(call, overrides).bytes_high, 4095u);
  for (const bool reached : {false, true}) {
    Call of_two{.collective = Collective::allreduce,
                .bytes = size_t{1} << 20,
                .ranks = 2,
                .shape = {},
                .root = 0};
    of_two.reached = reached;
    EXPECT_EQ(choose(of_two, {}).algorithm, reached ? "all_read_all" : "tiled");
    EXPECT_EQ(choose(of_two, {}).bytes_low, 32768u);
  }
}

// A cached answer serves its whole range.
TEST(Choose, IsTheSameWithinItsRange) {
  const Table users = read_table(
      "tutti-map 1\nallreduce ranks 4 sizes 100..200 -> builtin:tiled segment 8K\nscan sizes 1M.. "
      "-> builtin:flat\n",
      "mine");
  Overrides overrides;
  overrides.table = &users;
  for (const Collective collective : collectives()) {
    for (const int ranks : {2, 4, 64}) {
      for (size_t bytes = 1; bytes < (size_t{1} << 24); bytes = bytes * 3 / 2 + 1) {
        const Choice choice = choose(collective, bytes, ranks, true, overrides);
        for (const size_t end : {choice.bytes_low, choice.bytes_high}) {
          const Choice other = choose(collective, end, ranks, true, overrides);
          EXPECT_EQ(other.algorithm, choice.algorithm);
          EXPECT_EQ(other.segment_bytes, choice.segment_bytes);
          EXPECT_EQ(other.bytes_low, choice.bytes_low);
          EXPECT_EQ(other.bytes_high, choice.bytes_high);
        }
      }
    }
  }
}

// Pins the answers of default.map and placement.map on both sides of each of their edges: whoever
// changes one measures.
TEST(Choose, TheDefaultIsGolden) {
  struct Golden {
    Collective collective;
    bool oversubscribed;
    int ranks;
    size_t bytes;
    const char* algorithm;
  };
  const std::vector<Golden> table = {
      {Collective::barrier, false, 8, 0, "all_read_all"},
      {Collective::barrier, false, 16, 0, "staggered:16"},
      {Collective::barrier, false, 32, 0, "all_read_all"},
      {Collective::barrier, false, 33, 0, "staggered:16"},
      {Collective::barrier, false, 193, 0, "nary:16"},
      {Collective::barrier, true, 16, 0, "all_read_all"},
      {Collective::barrier, true, 17, 0, "nary:16"},
      {Collective::bcast, false, 16, 8, "flat"},
      {Collective::bcast, false, 17, 8, "flat 4096"},
      {Collective::bcast, false, 96, 8192, "flat 4096"},
      {Collective::bcast, false, 128, 4096, "flat"},
      {Collective::bcast, false, 128, 4097, "nary:16 4096"},
      {Collective::bcast, false, 64, 8193, "flat 4096"},
      {Collective::bcast, false, 65, 8193, "nary:16 4096"},
      {Collective::bcast, false, 129, 255, "flat"},
      {Collective::bcast, false, 129, 256, "nary:16 4096"},
      {Collective::bcast, true, 1000, 8, "flat 65536"},
      {Collective::bcast, false, 2, 8, "flat 32768"},
      {Collective::reduce, false, 8, 1023, "flat"},
      {Collective::reduce, false, 9, 1023, "nary:4:stepwise"},
      {Collective::reduce, false, 4, 16383, "tiled 65536"},
      {Collective::reduce, false, 4, 16384, "binomial 24576"},
      {Collective::reduce, false, 16, 1024, "tiled 65536"},
      {Collective::reduce, false, 64, 48, "nary:8"},
      {Collective::reduce, false, 80, 48, "nary:8"},
      {Collective::reduce, false, 81, 48, "nary:16"},
      {Collective::reduce, false, 17, 49, "levels:binomial:stepwise"},
      {Collective::reduce, false, 256, 12287, "levels:binomial:stepwise"},
      {Collective::reduce, false, 17, 12288, "binary:stepwise 4096"},
      {Collective::reduce, true, 17, 8, "nary:8"},
      {Collective::allreduce, false, 2, 32767, "all_read_all 32768"},
      {Collective::allreduce, false, 2, 32768, "tiled 131072"},
      {Collective::allreduce, false, 8, 1023, "all_read_all"},
      {Collective::allreduce, false, 8, 1024, "tiled 65536"},
      {Collective::allreduce, false, 16, 255, "all_read_all"},
      {Collective::allreduce, false, 16, 256, "flat"},
      {Collective::allreduce, false, 16, 1024, "tiled 65536"},
      {Collective::allreduce, false, 32, 48, "all_read_all"},
      {Collective::allreduce, false, 56, 48, "all_read_all"},
      {Collective::allreduce, false, 57, 48, "levels:8:one_stage"},
      {Collective::allreduce, false, 129, 48, "nary:16"},
      {Collective::allreduce, false, 17, 49, "levels:binomial:one_stage:stepwise"},
      {Collective::allreduce, false, 256, 12288, "levels:binomial:one_stage:stepwise"},
      {Collective::allreduce, false, 17, 12289, "levels:binary:one_stage:stepwise 4096"},
      {Collective::allreduce, false, 64, 12289, "levels:binary:one_stage:stepwise 4096"},
      {Collective::allreduce, false, 96, 12289, "levels:binary:one_stage:stepwise 4096"},
      {Collective::allreduce, false, 97, 12289, "binary:stepwise 4096"},
      {Collective::allreduce, true, 16, 2048, "all_read_all"},
      {Collective::allreduce, true, 2, 2049, "flat"},
      {Collective::allreduce, true, 2, SIZE_MAX, "flat"},
      {Collective::allreduce, true, 17, 8, "flat 65536"},
      {Collective::allreduce, true, 3, 32767, "flat 65536"},
      {Collective::allreduce, true, 3, 32768, "tiled 65536"},
      {Collective::gather, false, 4, 8, "flat"},
      {Collective::scatter, true, 4, 8, "flat 65536"},
      {Collective::scatter, false, 8, 12287, "flat"},
      {Collective::scatter, false, 8, 12288, "flat 65536"},
      {Collective::scatter, false, 9, 1024, "token_ring:4:within"},
      {Collective::scatter, false, 33, 8, "flat"},
      {Collective::scatter, false, 65, 48, "nary:8"},
      {Collective::gather, false, 33, 48, "flat"},
      {Collective::gather, false, 33, 49, "token_ring:16:within"},
      {Collective::allgather, false, 65, 48, "all_read_all"},
      {Collective::allgather, false, 64, 49, "all_read_all"},
      {Collective::allgather, false, 65, 49, "ring"},
      {Collective::allgather, true, 4, 8, "all_read_all 65536"},
      {Collective::alltoall, false, 4, 8, "flat 65536"},
      {Collective::reduce_scatter, false, 4, 8191, "flat"},
      {Collective::reduce_scatter, false, 5, 1024, "halving"},
      {Collective::reduce_scatter, false, 3, 8192, "ring"},
      {Collective::reduce_scatter, false, 33, 48, "flat"},
      {Collective::reduce_scatter, false, 33, 49, "ring"},
      {Collective::scan, false, 2, 2049, "chain 65536"},
      {Collective::scan, false, 8, 1023, "all_read_all"},
      {Collective::scan, false, 4, 12288, "all_read_all"},
      {Collective::scan, false, 8, 12288, "doubling"},
      {Collective::scan, false, 8, 12289, "chain"},
      {Collective::scan, false, 16, 65536, "chain"},
      {Collective::scan, false, 17, 32768, "doubling"},
      {Collective::scan, false, 64, 32768, "doubling"},
      {Collective::exscan, false, 17, 32769, "chain 8192"},
      {Collective::alltoall, false, 32, 131072, "flat 65536"},
      {Collective::alltoall, false, 48, 131072, "direct:2"},
      {Collective::alltoall, false, 48, 65536, "flat 65536"},
      {Collective::exscan, false, 16, 255, "all_read_all"},
      {Collective::exscan, false, 16, 256, "doubling"},
      {Collective::exscan, true, 16, 2048, "all_read_all 24576"},
      {Collective::exscan, true, 17, 8, "chain"},
      {Collective::exscan, true, 4, 65536, "chain"},
      {Collective::exscan, true, 5, 65536, "all_read_all 24576"},
      {Collective::scan, true, 16, 65536, "all_read_all 24576"},
      {Collective::scan, true, 16, 65537, "flat 24576"},
      {Collective::scan, true, 17, 65535, "chain"},
      {Collective::scan, true, 4, 2048, "all_read_all"},
      {Collective::reduce, true, 4, 16383, "flat"},
      {Collective::reduce, true, 4, 16384, "flat 24576"},
      {Collective::reduce, true, 5, 16384, "levels:push 65536"},
      {Collective::reduce, true, 5, 524289, "tiled halves"},
      {Collective::allreduce, true, 5, 131071, "tiled 65536"},
      {Collective::allreduce, true, 4, 524287, "tiled 65536"},
      {Collective::allreduce, true, 4, 524288, "tiled halves"},
      {Collective::allreduce, true, 2, 524288, "flat"},
      {Collective::allreduce, true, 5, 131072, "levels:binomial:one_stage halves"},
      {Collective::gather, true, 4, 16384, "flat 24576"},
      {Collective::gather, true, 5, 16384, "token_ring:8:within 65536"},
      {Collective::gather, true, 5, 16383, "flat"},
      {Collective::reduce_scatter, true, 4, 65536, "flat 65536"},
      {Collective::reduce_scatter, true, 5, 65536, "ring 65536"},
  };
  for (const Golden& golden : table) {
    EXPECT_EQ(chosen(golden.collective, golden.bytes, golden.ranks, golden.oversubscribed),
              golden.algorithm)
        << plan::name(golden.collective) << " of " << golden.bytes << " bytes, " << golden.ranks
        << " ranks";
  }
  Overrides placement;
  placement.reproducible = Reproducible::placement;
  EXPECT_EQ(chosen(Collective::reduce, 8, 4096, false, placement), "flat");
  EXPECT_EQ(chosen(Collective::allreduce, 2048, 16, true, placement), "all_read_all");
  EXPECT_EQ(chosen(Collective::allreduce, 16383, 17, false, placement), "flat");
  EXPECT_EQ(chosen(Collective::allreduce, 16384, 17, true, placement), "flat");
  EXPECT_EQ(chosen(Collective::allreduce, 32768, 2, true, placement), "tiled 24576");
  EXPECT_EQ(chosen(Collective::scan, 8, 2, true, placement), "chain");
}

TEST(Choose, TheUsersTableBeatsTheDefault) {
  const Table users = read_table(
      "tutti-map 1\n"
      "allreduce ranks 4 oversubscribed yes sizes 1K..1M -> builtin:binomial segment 8K\n"
      "allreduce ranks 4 oversubscribed no shape core:4 -> builtin:flat\n"
      "bcast root 1 -> builtin:binomial\n",
      "mine");
  Overrides overrides;
  overrides.table = &users;
  EXPECT_EQ(chosen(Collective::allreduce, 1024, 4, true, overrides), "binomial 8192");
  EXPECT_EQ(chosen(Collective::allreduce, 1023, 4, true, overrides),
            chosen(Collective::allreduce, 1023, 4, true));
  EXPECT_EQ(chosen(Collective::allreduce, 1024, 5, true, overrides),
            chosen(Collective::allreduce, 1024, 5, true));
  EXPECT_EQ(choose(Collective::allreduce, 8, 4, true, overrides).bytes_high, 1023u);
  Call call{.collective = Collective::allreduce, .bytes = 8, .ranks = 4, .shape = {}, .root = 0};
  call.shape = topo::parse_shape("node:1 core:4");
  EXPECT_EQ(choose(call, overrides).algorithm, "flat");
  call.shape = {};
  EXPECT_EQ(choose(call, overrides).algorithm, "all_read_all");
  call.collective = Collective::bcast;
  EXPECT_EQ(choose(call, overrides).algorithm, "flat");
  call.root = 1;
  EXPECT_EQ(choose(call, overrides).algorithm, "binomial");
}

TEST(Choose, TheUsersWordBeatsTheTables) {
  const Table users = read_table("tutti-map 1\nallreduce -> builtin:flat segment 8K\n", "mine");
  Overrides overrides;
  overrides.table = &users;
  overrides.algorithm[static_cast<size_t>(Collective::allreduce)] = "binomial";
  EXPECT_EQ(chosen(Collective::allreduce, 8, 2, false, overrides), "binomial 8192");
  overrides.segment_bytes = 4096;
  EXPECT_EQ(chosen(Collective::allreduce, 8, 2, false, overrides), "binomial 4096");
  EXPECT_EQ(chosen(Collective::barrier, 0, 2, false, overrides), "all_read_all 4096");
  EXPECT_EQ(algorithm_variable(Collective::reduce_scatter), "TUTTI_ALGORITHM_REDUCE_SCATTER");
}

// A size at which a rule's segments begin does not hang on which size was asked for first.
TEST(Choose, TheUsersWordKeepsTheRangesOfTheTable) {
  Overrides overrides;
  overrides.algorithm[static_cast<size_t>(Collective::allreduce)] = "tiled";
  EXPECT_EQ(choose(Collective::allreduce, 8, 2, false, overrides).bytes_high, 32767u);
  EXPECT_EQ(chosen(Collective::allreduce, 32768, 2, false, overrides), "tiled 131072");
}

// The user's table may combine partial results; where bits must not hang on tables, reductions do
// not read it.
TEST(Choose, PlacementReadsNoTableForReductions) {
  const Table users =
      read_table("tutti-map 1\nallreduce -> builtin:binomial\nbcast -> builtin:binomial\n", "mine");
  Overrides overrides;
  overrides.table = &users;
  overrides.reproducible = Reproducible::placement;
  EXPECT_EQ(chosen(Collective::allreduce, 8, 4, false, overrides), "all_read_all");
  EXPECT_EQ(chosen(Collective::bcast, 8, 4, false, overrides), "binomial");
  overrides.reproducible = Reproducible::run;
  EXPECT_EQ(chosen(Collective::allreduce, 8, 4, false, overrides), "binomial");
}

}  // namespace
}  // namespace tutti::select
