#include "records/neighbours.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "records/operation.h"
#include "records/test_ranks.h"
#include "records/test_topologies.h"

namespace tutti::records {
namespace {

using plan::Collective;
using plan::RecordProgram;

std::vector<RecordProgram> programs_of(const Topology& topology, Collective collective) {
  std::vector<std::vector<OutEdge>> told;
  for (const Neighbourhood& own : topology) told.push_back(out_edges(own));
  std::vector<RecordProgram> programs;
  for (size_t rank = 0; rank < topology.size(); ++rank)
    programs.push_back(neighbours_program(
        collective, static_cast<int32_t>(rank), static_cast<int32_t>(topology.size()),
        topology[rank], [&](int32_t source) -> std::span<const OutEdge> {
          const auto& sources = topology[rank].sources;
          EXPECT_TRUE(std::count(sources.begin(), sources.end(), source) > 0) << source;
          EXPECT_NE(source, static_cast<int32_t>(rank));
          return told[static_cast<size_t>(source)];
        }));
  return programs;
}

// Runs the programs of an operation over records, and compares all blocks of `out`.
void expect_moves(const Topology& topology, Collective collective, const Origins& origins) {
  constexpr int64_t untouched = -7;
  const bool one_block = collective == Collective::allgather;
  const std::vector<RecordProgram> programs = programs_of(topology, collective);
  TestRanks ranks({.ranks = static_cast<int>(topology.size())});
  struct Rank {
    std::vector<int64_t> in, out;
    Operation operation;
  };
  std::vector<Rank> all(topology.size());
  exec::SlotStores stores(exec::SlotStores::Policy::plain);
  for (size_t rank = 0; rank < all.size(); ++rank) {
    Rank& one = all[rank];
    for (size_t i = 0; i <= topology[rank].destinations.size(); ++i)
      one.in.push_back(static_cast<int64_t>(1000 * rank + i));
    one.out.assign(topology[rank].sources.size() + 1, untouched);
    one.operation.program = &programs[rank];
    one.operation.in = reinterpret_cast<const std::byte*>(one.in.data());
    one.operation.out = reinterpret_cast<std::byte*>(one.out.data());
    one.operation.bytes = one.operation.in_bytes = sizeof(int64_t);
    ASSERT_EQ(start(ranks[static_cast<int>(rank)], one.operation, stores), 0);
  }
  std::vector<std::byte> scratch;
  YieldingWaits waits;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    int late = -1;
    ASSERT_TRUE(is_ready(ranks[static_cast<int>(rank)], all[rank].operation, &late)) << late;
    const Outcome outcome =
        take(ranks[static_cast<int>(rank)], all[rank].operation, scratch, waits);
    ASSERT_EQ(outcome.code, Code::ok) << outcome.failure;
    std::vector<int64_t> expected;
    for (const Origin& origin : origins[rank]) {
      const int32_t block = one_block ? 0 : origin.block;
      expected.push_back(origin.rank < 0 ? untouched : 1000 * origin.rank + block);
    }
    expected.push_back(untouched);
    EXPECT_EQ(all[rank].out, expected) << "rank " << rank << " of " << all.size();
  }
}

void expect_moves(const Topology& topology, const Origins& origins) {
  expect_moves(topology, Collective::alltoall, origins);
  expect_moves(topology, Collective::allgather, origins);
}

// Returns the origin of each block of each rank's `out`, as ranks and blocks of their `in`.
Origins origins_in(const std::vector<RecordProgram>& programs) {
  Origins origins;
  for (const RecordProgram& program : programs) {
    auto& own = origins.emplace_back(static_cast<size_t>(program.blocks));
    for (const plan::Take& take : program.takes) {
      const plan::TakeSource& source = program.sources[static_cast<size_t>(take.first_source)];
      own[static_cast<size_t>(take.block)] = {source.rank, source.block};
    }
  }
  return origins;
}

TEST(Neighbours, PeriodicRows) {
  // A rank alone is its own neighbour on both sides: what it sends down comes from above.
  const Topology one = topology_of(Grid{{1}, {true}});
  EXPECT_EQ(origins_in(programs_of(one, Collective::alltoall)), (Origins{{{0, 1}, {0, 0}}}));
  // Two ranks: both neighbours are the other rank.
  const Topology two = topology_of(Grid{{2}, {true}});
  EXPECT_EQ(origins_in(programs_of(two, Collective::alltoall)),
            (Origins{{{1, 1}, {1, 0}}, {{0, 1}, {0, 0}}}));
  const Topology three = topology_of(Grid{{3}, {true}});
  EXPECT_EQ(origins_in(programs_of(three, Collective::alltoall)),
            (Origins{{{2, 1}, {1, 0}}, {{0, 1}, {2, 0}}, {{1, 1}, {0, 0}}}));
  EXPECT_EQ(origins_in(programs_of(three, Collective::allgather)),
            (Origins{{{2, 0}, {1, 0}}, {{0, 0}, {2, 0}}, {{1, 0}, {0, 0}}}));
}

TEST(Neighbours, BordersMoveNothing) {
  const std::vector<RecordProgram> programs =
      programs_of(topology_of(Grid{{3}, {false}}), Collective::alltoall);
  EXPECT_EQ(programs[0].gives, std::vector<int32_t>{1});
  EXPECT_EQ(programs[1].gives, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(programs[2].gives, std::vector<int32_t>{0});
  ASSERT_EQ(programs[0].takes.size(), 1U);
  EXPECT_EQ(programs[0].takes[0].block, 1);
  EXPECT_EQ(programs[0].sources[0],
            (plan::TakeSource{.rank = 1, .block = 0, .place = 0, .awaited = 0}));
  EXPECT_EQ(programs[2].sources[0],
            (plan::TakeSource{.rank = 1, .block = 1, .place = 1, .awaited = 0}));
  EXPECT_EQ(programs[1].awaits, (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(programs[1].awaited_blocks, (std::vector<int32_t>{1, 1}));
  EXPECT_EQ(programs[0].awaited_blocks, std::vector<int32_t>{2});
}

TEST(Neighbours, RepeatedEdgesKeepTheirOrder) {
  // Three edges from 0 to 1 among others, and two edges from 1 to itself.
  const Topology graph{{.sources = {1}, .destinations = {1, 0, 1, -1, 1}},
                       {.sources = {0, 1, 0, 1, 0}, .destinations = {1, 0, 1}}};
  const Topology consistent{{.sources = {0, 1}, .destinations = {1, 0, 1, -1, 1}}, graph[1]};
  const std::vector<RecordProgram> programs = programs_of(consistent, Collective::alltoall);
  const Origins origins = origins_in(programs);
  EXPECT_EQ(origins[1], (std::vector<Origin>{{0, 0}, {1, 0}, {0, 2}, {1, 2}, {0, 4}}));
  EXPECT_EQ((std::vector<Origin>{origins[0][0], origins[0][1]}),
            (std::vector<Origin>{{0, 1}, {1, 1}}));
  EXPECT_EQ(programs[0].gives, (std::vector<int32_t>{0, 1, 2, 4}));
  EXPECT_EQ(programs[0].given_to_others, (std::vector<bool>{true, false, true, true}));
  EXPECT_EQ(programs[1].given_to_others, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(programs[1].awaited_blocks, std::vector<int32_t>{4});
  EXPECT_EQ(programs[1].sources[4],
            (plan::TakeSource{.rank = 0, .block = 4, .place = 3, .awaited = 0}));
  expect_moves(consistent, origins_of(consistent));
}

TEST(Neighbours, RanksWithoutEdges) {
  const Topology graph{
      {}, {.sources = {}, .destinations = {2}}, {.sources = {1}, .destinations = {}}};
  for (const Collective collective : {Collective::alltoall, Collective::allgather}) {
    const std::vector<RecordProgram> programs = programs_of(graph, collective);
    EXPECT_TRUE(programs[0].gives.empty() && programs[0].takes.empty());
    EXPECT_TRUE(programs[1].takes.empty() && programs[1].awaits.empty());
    EXPECT_TRUE(programs[2].gives.empty());
    EXPECT_EQ(programs[2].awaits, std::vector<int32_t>{1});
  }
  expect_moves(graph, origins_of(graph));
}

TEST(Neighbours, AnAllgatherGivesItsBlockOnce) {
  const Topology graph{{.sources = {0, 0}, .destinations = {0, 0}},
                       {.sources = {2, 2}, .destinations = {2}},
                       {.sources = {1}, .destinations = {-1, 1, 1}}};
  const std::vector<RecordProgram> programs = programs_of(graph, Collective::allgather);
  EXPECT_EQ(programs[0].gives, std::vector<int32_t>{0});
  EXPECT_EQ(programs[0].given_to_others, std::vector<bool>{false});
  EXPECT_EQ(programs[2].given_to_others, std::vector<bool>{true});
  EXPECT_EQ(programs[1].awaited_blocks, std::vector<int32_t>{1});
  expect_moves(graph, origins_of(graph));
}

std::string refusal_of(const Topology& graph) {
  try {
    programs_of(graph, Collective::alltoall);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::mismatch);
    return error.what();
  }
  return "none";
}

TEST(Neighbours, EdgesOfOneEndAreRefused) {
  const std::string missing =
      refusal_of({{.sources = {}, .destinations = {1}}, {.sources = {0, 0}, .destinations = {}}});
  EXPECT_NE(missing.find("from rank 0 to rank 1: rank 1 expects block 1 from there"),
            std::string::npos)
      << missing;
  const std::string too_many =
      refusal_of({{.sources = {}, .destinations = {1, 1}}, {.sources = {0}, .destinations = {}}});
  EXPECT_NE(too_many.find("rank 0 has more edges than rank 1 expects"), std::string::npos)
      << too_many;
  const std::string to_itself = refusal_of({{.sources = {0}, .destinations = {}}});
  EXPECT_NE(to_itself.find("from rank 0 to rank 0"), std::string::npos) << to_itself;
  for (const std::string& refusal : {missing, too_many, to_itself})
    EXPECT_EQ(refusal.find('\n'), std::string::npos);
}

TEST(Neighbours, AllSmallGrids) {
  for_small_grids([](const Grid& grid) { expect_moves(topology_of(grid), origins_of(grid)); });
}

TEST(Neighbours, RandomGraphs) {
  std::mt19937 random(8);
  for (int round = 0; round < 400; ++round) {
    const auto ranks = 1 + random() % 8;
    const Topology graph = random_graph(random, ranks, random() % (3 * ranks + 1));
    expect_moves(graph, origins_of(graph));
    if (HasFailure()) FAIL() << "round " << round;
  }
}

}  // namespace
}  // namespace tutti::records
