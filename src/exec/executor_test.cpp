#include "exec/executor.h"

#include <gtest/gtest.h>

#include <memory>

#include "algo/algo.h"
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

}  // namespace
}  // namespace tutti::exec
