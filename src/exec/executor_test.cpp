#include "exec/executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "algo/algo.h"
#include "base/segments.h"
#include "plan/lower.h"

namespace tutti::exec {
namespace {

using plan::Carrier;
using plan::Collective;

TEST(CallSignature, TellsWhatRanksMustShare) {
  const uint64_t one = call_signature(Collective::bcast, 64, 2);
  EXPECT_NE(one, call_signature(Collective::bcast, 65, 2));
  EXPECT_NE(one, call_signature(Collective::bcast, 64, 3));
  EXPECT_NE(one, call_signature(Collective::reduce, 64, 2));
  EXPECT_EQ(describe_call(one), "bcast of 64 bytes, root 2");
  EXPECT_EQ(describe_call(call_signature(Collective::barrier, 0, 0)), "barrier");
  EXPECT_EQ(describe_call(call_signature(Collective::allreduce, 8, 0)), "allreduce of 8 bytes");
}

// Only this rank's Control is touched; all ranks have the same layout, so all refuse alike.
TEST(Channel, RefusesMoreMemoryThanStepsCanName) {
  alignas(shm::line_size) std::byte areas[sizeof(shm::Control)] = {};
  shm::Layout layout{2, 16, 128 * 1024};
  const plan::Plan plan = algo::generate(Collective::barrier, "all_read_all", 2, 0);
  const plan::Plan staged = plan::stage(plan);
  const auto program = std::make_shared<plan::Program>(
      plan::lower(staged, plan::depend(staged, Carrier::line), 0, Carrier::line));
  EXPECT_NE(Channel(areas, layout, 0, {}).bind(program), nullptr);
  layout.slot_bytes = shm::most_bytes / 2;
  EXPECT_THROW(Channel(areas, layout, 0, {}).bind(program), Error);
}

class Segments : public testing::Test {
 protected:
  Channel channel(size_t bytes_per_rank, int ranks) {
    const shm::Layout layout = shm::Layout::fit(ranks, bytes_per_rank);
    areas_.assign(layout.bytes() + shm::line_size, std::byte{0});
    auto address = reinterpret_cast<uintptr_t>(areas_.data());
    address = (address + shm::line_size - 1) / shm::line_size * shm::line_size;
    return Channel(reinterpret_cast<std::byte*>(address), layout, 0, {});
  }
  std::vector<std::byte> areas_;
};

// Whatever is asked for, a segment fits the ring as often as the program's waits between segments
// need.
TEST_F(Segments, FitTheRing) {
  for (int ranks : {2, 5, 16, 64}) {
    for (const char* algorithm : {"flat", "binomial", "nary:4", "all_read_all", "tiled"}) {
      const plan::Program program =
          plan::lower(algo::generate(Collective::allreduce, algorithm, ranks, 0), 0, Carrier::slot);
      for (size_t area : {shm::smallest_area, size_t{8192}, size_t{131072}}) {
        const Channel channel = this->channel(area, ranks);
        for (size_t element : {1, 4, 8, 16, 12, 24}) {
          for (size_t wanted : {size_t{0}, size_t{1}, size_t{4096}, size_t{1} << 20}) {
            const size_t bytes = 3'000'000 / element * element;
            if (!channel.fits(program, element)) continue;
            const size_t segment = channel.segment_bytes(program, element, bytes, wanted);
            EXPECT_EQ(segment % element, 0u);
            const size_t blocks = static_cast<size_t>(program.blocks);
            const size_t elements = (segment / element + blocks - 1) / blocks;
            const size_t block = 128 % element == 0 || blocks == 1
                                     ? (elements * element + 127) / 128 * 128
                                     : elements * element;
            EXPECT_LE(block * static_cast<size_t>(program.slot_blocks) *
                          static_cast<size_t>(program.min_positions),
                      channel.layout().slot_bytes)
                << algorithm << " " << ranks << " area " << area << " element " << element
                << " wanted " << wanted;
          }
        }
      }
    }
  }
}

// Two halves, or 4, 8, ... pieces where the ring does not hold so much; the ring holds what the
// program waits for.
TEST_F(Segments, HalvesAreHalvedUntilTheyFit) {
  for (int ranks : {2, 5, 16}) {
    for (const char* algorithm : {"flat", "binomial", "tiled"}) {
      const plan::Program program =
          plan::lower(algo::generate(Collective::allreduce, algorithm, ranks, 0), 0, Carrier::slot);
      for (size_t area : {shm::smallest_area, size_t{8192}, size_t{131072}, size_t{1} << 22}) {
        const Channel channel = this->channel(area, ranks);
        size_t least_parts = 1;
        for (const size_t bytes :
             {size_t{9} << 10, size_t{64} << 10, size_t{1} << 20, size_t{3'000'000}}) {
          const size_t segment = channel.segment_bytes(program, 8, bytes, segment_halves);
          if (segment == bytes) continue;  // one piece
          const size_t parts = (bytes + segment - 1) / segment;
          EXPECT_GE(parts, least_parts);  // more of longer messages
          least_parts = parts;
          EXPECT_EQ(segment % shm::line_size, 0u);
          if (segment > shm::line_size) {
            size_t wanted = 2;
            while (wanted < parts) wanted *= 2;
            EXPECT_LE(segment, bytes / wanted + shm::line_size);
            const size_t room = area >= size_t{1} << 22 && parts == 2
                                    ? 2u
                                    : static_cast<size_t>(program.min_positions);
            EXPECT_LE(segment / static_cast<size_t>(program.blocks) *
                          static_cast<size_t>(program.slot_blocks) * std::min(room, parts),
                      channel.layout().slot_bytes)
                << algorithm << " " << ranks << " area " << area << " bytes " << bytes;
          }
          if (area == size_t{1} << 22 && bytes == size_t{64} << 10) {
            EXPECT_EQ(parts, 2u);
          }
        }
      }
    }
  }
}

TEST_F(Segments, ShortMessagesAreWhole) {
  const Channel channel = this->channel(131072, 2);
  const plan::Program program =
      plan::lower(algo::generate(Collective::bcast, "flat", 2, 0), 0, Carrier::slot);
  EXPECT_EQ(channel.segment_bytes(program, 1, 49, 0), 49u);
  EXPECT_EQ(channel.segment_bytes(program, 1, 8192, 0), 8192u);
  EXPECT_LT(channel.segment_bytes(program, 1, 1 << 20, 0), size_t{1} << 20);
  EXPECT_EQ(channel.segment_bytes(program, 1, 8192, segment_halves), 8192u);
  EXPECT_EQ(channel.segment_bytes(program, 1, 8193, segment_halves), 4224u);
}

TEST_F(Segments, ElementsUpToTheLimitFitFlatPlans) {
  for (size_t area : {shm::smallest_area, size_t{8192}, size_t{131072}}) {
    const Channel channel = this->channel(area, 64);
    for (Collective collective : {Collective::reduce, Collective::allreduce}) {
      const plan::Program program =
          plan::lower(algo::generate(collective, "flat", 64, 0), 0, Carrier::slot);
      EXPECT_TRUE(channel.fits(program, channel.max_element()));
    }
  }
}

}  // namespace
}  // namespace tutti::exec
