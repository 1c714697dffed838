#include "exec/executor.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "algo/algo.h"
#include "plan/lower.h"
#include "shm/segment.h"

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

// A communicator that makes few calls must not pay for the pages of its whole ring.
TEST(Channel, TouchesThePagesOfItsLongRingAsItUsesThem) {
  constexpr size_t bytes = 4096;
  const shm::Layout layout = shm::Layout::fit(2, size_t{2} << 20);
  auto memory = shm::Segment::create(shm::Segment::Kind::memfd, layout.bytes());
  std::byte* const areas = memory.address(memory.take(0, layout.bytes(), 2)->first_page);
  const auto resident = [&] {
    std::vector<unsigned char> pages(layout.bytes() / shm::page_size);
    EXPECT_EQ(mincore(areas, pages.size() * shm::page_size, pages.data()), 0);
    return static_cast<size_t>(std::count(pages.begin(), pages.end(), 1)) * shm::page_size;
  };
  const plan::Plan staged = plan::stage(algo::generate(Collective::bcast, "flat", 2, 0));
  const auto program = std::make_shared<plan::Program>(
      plan::lower(staged, plan::depend(staged, Carrier::slot), 0, Carrier::slot));
  Channel root(areas, layout, 0, {});
  const auto bound = root.bind(program);
  std::vector<std::byte> data(bytes);
  Operation operation{data.data(), data.data(), bytes, bytes};
  operation.segment_bytes = bytes;
  EXPECT_EQ(root.execute(bound->start, operation), Code::ok);
  EXPECT_GE(resident(), 60u * 1024);
  EXPECT_LE(resident(), 128u * 1024);
  // The root waits for nobody in the first lap. Each step doubles what is there.
  const size_t calls = layout.slot_bytes / 3 / bytes;
  for (size_t call = 1; call < calls; ++call)
    EXPECT_EQ(root.execute(bound->start, operation), Code::ok);
  EXPECT_GE(resident(), calls * bytes);
  EXPECT_LE(resident(), 2 * calls * bytes);
}

}  // namespace
}  // namespace tutti::exec
