#include "plan/geometry.h"

#include <gtest/gtest.h>

#include "algo/algo.h"
#include "base/segments.h"
#include "plan/lower.h"
#include "shm/layout.h"

namespace tutti::plan {
namespace {

constexpr size_t deep = size_t{1} << 22;

Resources resources(size_t bytes_per_rank) {
  const shm::Layout layout = shm::Layout::fit(2, bytes_per_rank);
  return resources_of(layout.slot_bytes, layout.line_count);
}

size_t slot_bytes(const Resources& of) { return of.short_slots + of.long_slots; }

Program program_of(Collective collective, const char* algorithm, int ranks,
                   Carrier carrier = Carrier::slot, const placement::Nodes& nodes = {}) {
  return lower(algo::generate(collective, algorithm, ranks, 0), 0, carrier, nodes);
}

// For every requested size, the ring holds as many segments as the program's waits between segments
// require.
TEST(Geometry, SegmentsFitTheRing) {
  for (const int ranks : {2, 5, 16, 64}) {
    for (const char* algorithm : {"flat", "binomial", "nary:4", "all_read_all", "tiled"}) {
      const Program program = program_of(Collective::allreduce, algorithm, ranks);
      for (const size_t area : {shm::smallest_area, size_t{8192}, size_t{131072}}) {
        const Resources memory = resources(area);
        for (const size_t element : {1, 4, 8, 16, 12, 24}) {
          for (const size_t wanted : {size_t{0}, size_t{1}, size_t{4096}, size_t{1} << 20}) {
            const size_t bytes = 3'000'000 / element * element;
            if (!fits(program, memory, element)) continue;
            const size_t segment = segment_bytes(program, memory, element, bytes, wanted);
            EXPECT_EQ(segment % element, 0u);
            const auto blocks = static_cast<size_t>(program.blocks);
            const size_t elements = (segment / element + blocks - 1) / blocks;
            const size_t block = 128 % element == 0 || blocks == 1
                                     ? (elements * element + 127) / 128 * 128
                                     : elements * element;
            EXPECT_LE(block * static_cast<size_t>(program.slot_blocks) *
                          static_cast<size_t>(program.min_positions),
                      slot_bytes(memory))
                << algorithm << " " << ranks << " area " << area << " element " << element
                << " wanted " << wanted;
          }
        }
      }
    }
  }
}

// The message is cut into two halves, or into 4, 8, ... pieces if the ring is too short for that.
TEST(Geometry, HalvesAreHalvedUntilTheyFit) {
  for (const int ranks : {2, 5, 16}) {
    for (const char* algorithm : {"flat", "binomial", "tiled"}) {
      const Program program = program_of(Collective::allreduce, algorithm, ranks);
      for (const size_t area : {shm::smallest_area, size_t{8192}, size_t{131072}, deep}) {
        const Resources memory = resources(area);
        size_t least_parts = 1;
        for (const size_t bytes :
             {size_t{9} << 10, size_t{64} << 10, size_t{1} << 20, size_t{3'000'000}}) {
          const size_t segment = segment_bytes(program, memory, 8, bytes, segment_halves);
          if (segment == bytes) continue;  // one piece
          const size_t parts = (bytes + segment - 1) / segment;
          EXPECT_GE(parts, least_parts);  // longer messages have no fewer
          least_parts = parts;
          EXPECT_EQ(segment % line_size, 0u);
          if (segment > line_size) {
            size_t wanted = 2;
            while (wanted < parts) wanted *= 2;
            EXPECT_LE(segment, bytes / wanted + line_size);
            const size_t room =
                area >= deep && parts == 2 ? 2u : static_cast<size_t>(program.min_positions);
            EXPECT_LE(segment / static_cast<size_t>(program.blocks) *
                          static_cast<size_t>(program.slot_blocks) * std::min(room, parts),
                      slot_bytes(memory))
                << algorithm << " " << ranks << " area " << area << " bytes " << bytes;
          }
          if (area == deep && bytes == size_t{64} << 10) {
            EXPECT_EQ(parts, 2u);
          }
        }
      }
    }
  }
}

TEST(Geometry, ShortMessagesAreWhole) {
  const Resources memory = resources(131072);
  const Program program = program_of(Collective::bcast, "flat", 2);
  EXPECT_EQ(segment_bytes(program, memory, 1, 49, 0), 49u);
  EXPECT_EQ(segment_bytes(program, memory, 1, 8192, 0), 8192u);
  EXPECT_LT(segment_bytes(program, memory, 1, 1 << 20, 0), size_t{1} << 20);
  EXPECT_EQ(segment_bytes(program, memory, 1, 8192, segment_halves), 8192u);
  EXPECT_EQ(segment_bytes(program, memory, 1, 8193, segment_halves), 4224u);
}

// A plan may say how long the last of two segments is. A message of less than twice that is cut in
// halves, and a shorter one not at all, whatever a rule's segments are.
TEST(Geometry, TheLastOfTwoSegmentsHasTheLengthThatThePlanSays) {
  const Resources memory = resources(deep);
  const Program program = program_of(Collective::gather, "token_ring:1:threshold=32K:within", 4);
  const auto segments = [&](size_t bytes) {
    return travel(program, memory, 1, bytes, 0, ReachChoice::automatic).geometry;
  };
  EXPECT_EQ(segments(32768).segments, 1);
  EXPECT_EQ(segments(40960).segments, 2);
  EXPECT_EQ(segments(40960).segment_bytes, 20480u);
  EXPECT_EQ(segments(131072).segments, 2);
  EXPECT_EQ(segments(131072).segment_bytes, 131072u - 32768u);
  EXPECT_EQ(segment_bytes(program, memory, 1, 131072, 4096), 131072u - 32768u);
  const Resources small = resources(131072);
  EXPECT_GT(travel(program, small, 1, size_t{1} << 20, 0, ReachChoice::automatic).geometry.segments,
            2)
      << "two segments do not fit";
}

TEST(Geometry, ThreadsNeedNoSegmentsForLongerMessages) {
  Resources memory = resources(131072);
  memory.threads = true;
  const Program program = program_of(Collective::bcast, "flat", 2);
  EXPECT_EQ(whole_up_to(program, memory, 0), size_t{32} << 10);
  EXPECT_EQ(segment_bytes(program, memory, 1, 20'000, 0), 20'000u);
  EXPECT_EQ(segment_bytes(program, memory, 1, 20'000, 4096), 4096u);
}

// A message up to the host MPI's eager limit goes in one piece. Several parts share a message, so
// the limit of each part is less.
TEST(Geometry, BetweenNodesTheTransportDecides) {
  Resources memory = resources(deep);
  const placement::Nodes nodes(std::vector<int32_t>{0, 1});
  const Program program = program_of(Collective::bcast, "flat", 2, Carrier::slot, nodes);
  for (const size_t prompt : {size_t{32} << 10, size_t{64} << 10}) {
    memory.prompt = prompt;
    EXPECT_EQ(travel(program, memory, 1, prompt, 0, ReachChoice::automatic).geometry.segments, 1);
    EXPECT_EQ(travel(program, memory, 1, prompt + 1, 0, ReachChoice::automatic).geometry.segments,
              2);
    EXPECT_EQ(segment_bytes(program, memory, 1, prompt + 1, 0), prompt);
    EXPECT_EQ(segment_bytes(program, memory, 1, prompt, segment_halves), prompt / 2) << "selected";
    EXPECT_EQ(segment_bytes(program, memory, 1, 8192, segment_halves), 8192u);
  }
  memory.prompt = size_t{32} << 10;
  const placement::Nodes pairs(std::vector<int32_t>{0, 0, 0, 0, 1, 1, 1, 1});
  const Program parts =
      lower(algo::generate(Collective::alltoall, "hierarchical", 8, 0,
                           placement::Levels({{"node", {0, 0, 0, 0, 1, 1, 1, 1}, 0}})),
            0, Carrier::slot, pairs);
  EXPECT_GT(parts.message_blocks, 1);
  EXPECT_LT(whole_up_to(parts, memory, 0), *memory.prompt);
}

TEST(Geometry, PositionsAreAsManyAsSegmentsOrAsTheRingHolds) {
  const Program program = program_of(Collective::bcast, "flat", 2);
  for (const size_t area : {size_t{16384}, size_t{131072}, deep}) {
    const Resources memory = resources(area);
    for (const size_t bytes : {size_t{20'000}, size_t{100'000}, size_t{1} << 20, size_t{1} << 24}) {
      const Geometry of = travel(program, memory, 1, bytes, 0, ReachChoice::automatic).geometry;
      const auto segments = static_cast<size_t>(of.segments);
      EXPECT_EQ(segments, (bytes + of.segment_bytes - 1) / of.segment_bytes);
      EXPECT_EQ(static_cast<size_t>(of.positions),
                std::min(segments, memory.long_slots / of.position_bytes));
      EXPECT_GE(of.positions, std::min<int64_t>(of.segments, program.min_positions));
    }
  }
}

TEST(Geometry, LinesHaveOneSegment) {
  const Program program = program_of(Collective::allreduce, "flat", 4, Carrier::line);
  const Travel found = travel(program, resources(65536), 8, 48, 8, ReachChoice::automatic);
  EXPECT_TRUE(found.in_lines);
  EXPECT_EQ(found.geometry.segments, 1);
  EXPECT_EQ(found.geometry.segment_bytes, 48u);
  EXPECT_TRUE(fits(program, resources(65536), 8));
  Resources few = resources(65536);
  few.lines = program.lines - 1;
  EXPECT_FALSE(fits(program, few, 8));
}

TEST(Geometry, ElementsUpToTheLimitFitFlatPlans) {
  for (const size_t area : {shm::smallest_area, size_t{8192}, size_t{131072}}) {
    const Resources memory = resources(area);
    for (const Collective collective : {Collective::reduce, Collective::allreduce})
      EXPECT_TRUE(fits(program_of(collective, "flat", 64), memory, max_element(memory)));
  }
}

TEST(Geometry, ReadersBypassSlotsWhereTheyCan) {
  const Program program = program_of(Collective::bcast, "flat", 2);
  ASSERT_TRUE(program.has_elidable_copies);
  const auto way = [&](const Resources& memory, size_t bytes, ReachChoice choice) {
    const Travel found = travel(program, memory, 1, bytes, 0, choice);
    return (found.bypasses_mapped ? 1 : 0) + (found.bypasses_by_system ? 2 : 0);
  };
  using enum ReachChoice;
  Resources memory = resources(131072);
  EXPECT_EQ(way(memory, 1 << 20, cma), 0);  // there is no other way
  memory.system_copies = true;
  EXPECT_EQ(way(memory, 1 << 20, automatic), 0);
  EXPECT_EQ(way(memory, direct_from - 1, cma), 0);
  EXPECT_EQ(way(memory, direct_from, cma), 2);
  memory.system_copies_unasked = true;
  EXPECT_EQ(way(memory, cma_from - 1, automatic), 0);
  EXPECT_EQ(way(memory, cma_from, automatic), 2);
  EXPECT_EQ(way(memory, 1 << 20, staged), 0);
  memory.system_copies_unasked = false;
  memory.mapped = true;
  EXPECT_EQ(way(memory, direct_from - 1, automatic), 0);
  EXPECT_EQ(way(memory, direct_from, automatic), 1);
  EXPECT_EQ(way(memory, 1 << 20, direct), 1);
  EXPECT_EQ(way(memory, direct_from, cma), 3);
  EXPECT_EQ(way(memory, 1 << 20, staged), 0);
  memory.prompt = 65536;  // between nodes all data goes by slots and messages
  EXPECT_EQ(way(memory, 1 << 20, cma), 0);
}

}  // namespace
}  // namespace tutti::plan
