// Compares the journeys that a Traveller finds with traces of groups that executed the calls.
#include "group/journey.h"

#include <gtest/gtest.h>

#include "base/segments.h"
#include "group/test_calls.h"
#include "group/test_leaders.h"
#include "select/select.h"
#include "trace/tracer.h"

namespace tutti::group::test {
namespace {

using trace::Kind;
using trace::Record;

const std::vector<size_t> counts{1, 6, 7, 512, 1125, 2500, 9000, 17'000};

// An operation as rank 0 has recorded it.
struct Executed {
  uint64_t bytes = 0, segment_bytes = 0;
  int64_t segments = 0, positions = 0;
  std::vector<uint32_t> copies;  // the steps of the program that copied
};

std::vector<Executed> executed_by(const trace::Ring& ring) {
  const auto contents = ring.contents();
  EXPECT_EQ(contents.lost, 0u);
  std::vector<Executed> all(1);
  for (const Record& record : contents.first) {
    const auto kind = static_cast<uint8_t>(record.what & 0xFF);
    if (kind == static_cast<uint8_t>(plan::StepKind::copy))
      all.back().copies.push_back(record.what >> 8);
    if (kind == static_cast<uint8_t>(Kind::operation)) all.back().segment_bytes = record.bytes;
    if (kind != static_cast<uint8_t>(Kind::details)) continue;
    all.back().bytes = record.begin;
    all.back().segments = record.segment;
    all.back().positions = record.what >> 8;
    all.emplace_back();
  }
  all.pop_back();
  return all;
}

// The calls of a grid, in the order in which every rank makes them.
std::vector<TestCall> grid(int ranks) {
  std::vector<TestCall> calls;
  for (int i = 0; i < plan::collective_count; ++i) {
    const auto collective = static_cast<Collective>(i);
    for (const size_t count : counts) {
      if (collective == Collective::barrier && count > 1) continue;
      const int root = plan::rooted(collective) ? ranks - 1 : 0;
      calls.push_back({collective, collective == Collective::barrier ? 0 : count, root, false,
                       static_cast<int>(calls.size())});
    }
  }
  return calls;
}

void make(Group& group, const TestCall& call) {
  if (call.collective != Collective::barrier) return perform(group, call);
  ASSERT_EQ(barrier(group), Code::ok) << group.failure();
}

// How many executed operations bypassed slots or had several segments, and how many calls had two
// legs. A test in which these do not occur shows nothing about them.
struct Seen {
  int bypasses = 0, segmented = 0, two_legs = 0;
};

// The facts that all ranks share, from which `tutti explain` finds a journey.
struct World {
  int ranks;
  select::Overrides overrides;
  Traveller::Communicator communicator;
  placement::Levels levels;
};

select::Call as_rules_see(const TestCall& call, const World& world) {
  select::Call seen{.collective = call.collective,
                    .bytes = call.count * 8,
                    .ranks = world.ranks,
                    .shape = {},
                    .root = call.root};
  seen.oversubscribed = true;
  seen.levels = &world.levels;
  seen.nodes = world.communicator.nodes.count();
  return seen;
}

void expect_leg(const Leg& leg, const Executed& done, size_t bytes, Seen& seen) {
  const plan::Geometry& geometry = leg.travel.geometry;
  EXPECT_EQ(done.bytes, bytes);
  EXPECT_EQ(done.segments, geometry.segments);
  EXPECT_EQ(done.segment_bytes, geometry.segment_bytes);
  EXPECT_EQ(done.positions, geometry.positions);
  seen.segmented += geometry.segments > 1 ? 1 : 0;
  const std::vector<plan::Step>& steps = leg.program->steps;
  const bool may_bypass = bytes > 0 && std::any_of(steps.begin(), steps.end(),
                                                   [](auto& step) { return step.elidable; });
  if (!may_bypass) return;
  const bool copied = std::any_of(done.copies.begin(), done.copies.end(),
                                  [&](uint32_t place) { return steps[place].elidable; });
  const bool bypasses = leg.travel.bypasses_mapped || leg.travel.bypasses_by_system;
  EXPECT_NE(copied, bypasses);
  seen.bypasses += bypasses ? 1 : 0;
}

// Called by rank 0 when it has made the calls.
void expect_as_said(const std::vector<TestCall>& calls, const World& world, const trace::Ring& ring,
                    Seen& seen) {
  const std::vector<Executed> executed = executed_by(ring);
  size_t next = 0;
  for (const TestCall& call : calls) {
    const select::Call rules_see = as_rules_see(call, world);
    const select::Choice choice = select::choose(rules_see, world.overrides);
    Traveller::Wanted wanted{choice.segment_bytes, choice.reach,
                             plan::combines(call.collective) ? size_t{8} : 1,
                             choice.by_default_table};
    const Journey journey =
        Traveller(rules_see, world.communicator).built_in(choice.algorithm, wanted);
    SCOPED_TRACE(std::string(plan::name(call.collective)) + " of " +
                 std::to_string(rules_see.bytes) + " bytes by " + journey.algorithm + ", " +
                 std::to_string(world.ranks) + " ranks");
    for (const Leg& leg : journey.legs) {
      ASSERT_LT(next, executed.size());
      expect_leg(leg, executed[next++], rules_see.bytes, seen);
    }
    seen.two_legs += journey.legs.size() == 2 ? 1 : 0;
    if (testing::Test::HasFailure()) return;  // one call is enough to read
  }
  EXPECT_EQ(next, executed.size());
}

plan::Resources resources_of(size_t bytes_per_rank, int ranks) {
  const shm::Layout layout = shm::Layout::fit(ranks, bytes_per_rank);
  return plan::resources_of(layout.slot_bytes, layout.line_count);
}

select::Overrides asking_for_segments(size_t bytes) {
  select::Overrides overrides;
  overrides.segment_bytes = bytes;
  return overrides;
}

constexpr size_t wanted_segments[] = {0, segment_halves, 4096};
constexpr size_t memories[] = {16 * 1024, 128 * 1024, 4 << 20};
constexpr size_t most_records = size_t{1} << 18;

TEST(Journey, IsWhatRanksOfANodeExecute) {
  Seen seen;
  for (const int ranks : rank_counts({2, 5})) {
    for (const size_t memory : memories) {
      for (const size_t wanted : wanted_segments) {
        for (const Reaching reaching : {Reaching::direct, Reaching::by_system, Reaching::none}) {
          World world{ranks, asking_for_segments(wanted), {{}, resources_of(memory, ranks)}, {}};
          plan::Resources& resources = world.communicator.resources;
          resources.threads = resources.mapped = reaching == Reaching::direct;
          resources.system_copies = reaching == Reaching::by_system;
          resources.system_copies_unasked = true;
          const std::vector<TestCall> calls = grid(ranks);
          trace::Tracer tracer({.records = most_records});
          with_groups(
              ranks, world.overrides, {},
              [&](Group& group) {
                for (const TestCall& call : calls) make(group, call);
                if (group.rank() == 0) expect_as_said(calls, world, tracer.ring(), seen);
              },
              true, memory, false, {}, reaching, &tracer);
          if (HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(seen.bypasses, 50);
  EXPECT_GT(seen.segmented, 500);
}

// The default table is made for long rings. In short ones an algorithm that stages all ranks'
// blocks would cut a message into many segments with a hand-over each.
TEST(Journey, HasFewHandOversInShortRings) {
  for (const int ranks : {5, 10, 16}) {
    const select::Call call{.collective = Collective::reduce,
                            .bytes = 256 * 1024,
                            .ranks = ranks,
                            .shape = {},
                            .root = 0,
                            .oversubscribed = true};
    const select::Choice choice = select::choose(call, {});
    ASSERT_EQ(choice.algorithm, "levels:push");
    const auto segments = [&](size_t memory, bool by_default_table) {
      const Traveller traveller(call, {{}, resources_of(memory, ranks)});
      const Journey journey =
          traveller.built_in(choice.algorithm, {.segment_bytes = choice.segment_bytes,
                                                .element = 8,
                                                .by_default_table = by_default_table});
      return journey.legs.front().travel.geometry.segments;
    };
    const size_t small = 16 * 1024, deep = 4 << 20;
    EXPECT_LT(segments(small, true), 150);
    EXPECT_GT(segments(small, false), 500);  // a user's choice is kept
    EXPECT_EQ(segments(deep, true), segments(deep, false));
  }
}

TEST(Journey, IsWhatRanksOfSeveralNodesExecute) {
  Seen seen;
  for (const std::vector<int32_t>& nodes :
       {std::vector<int32_t>{0, 0, 1, 1}, {0, 1, 0, 1, 1}, {2, 0, 1}}) {
    for (const size_t memory : memories) {
      for (const size_t wanted : wanted_segments) {
        const auto ranks = static_cast<int>(nodes.size());
        const placement::Levels levels({{"node", nodes, 0}});
        World world{ranks,
                    asking_for_segments(wanted),
                    {placement::Nodes(nodes), resources_of(memory, 1)},
                    levels};
        world.communicator.resources.prompt = exec::prompt_of_openmpi;
        const std::vector<TestCall> calls = grid(ranks);
        trace::Tracer tracer({.records = most_records});
        with_nodes(
            nodes, world.overrides,
            [&](Group& group) {
              for (const TestCall& call : calls) make(group, call);
              if (group.rank() == 0) expect_as_said(calls, world, tracer.ring(), seen);
            },
            memory, levels, false, {}, &tracer);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(seen.segmented, 100);
  EXPECT_EQ(seen.bypasses, 0);
}

TEST(Journey, HasTheProgramsBesideTheHostsCollective) {
  Seen seen;
  for (const std::vector<int32_t>& nodes :
       {std::vector<int32_t>{0, 0, 1, 1}, {0, 0, 0, 1, 0, 2, 2}, {0, 1, 2}}) {
    for (const size_t memory : memories) {
      const auto ranks = static_cast<int>(nodes.size());
      const placement::Levels levels({{"node", nodes, 0}});
      World world{ranks, {}, {placement::Nodes(nodes), resources_of(memory, 1)}, levels};
      world.communicator.resources.prompt = exec::prompt_of_openmpi;
      std::vector<TestCall> calls = grid(ranks);
      std::erase_if(calls,
                    [](const TestCall& call) { return !algo::host_serves(call.collective); });
      for (const TestCall& call : calls)
        world.overrides.algorithm[static_cast<size_t>(call.collective)] = "hierarchical+host";
      trace::Tracer tracer({.records = most_records});
      with_leaders(
          nodes, world.overrides,
          [&](Group& group) {
            for (const TestCall& call : calls) make(group, call);
            if (group.rank() == 0) expect_as_said(calls, world, tracer.ring(), seen);
          },
          memory, false, true, &tracer);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(seen.two_legs, 20);
}

}  // namespace
}  // namespace tutti::group::test
