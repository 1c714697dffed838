// V-collectives of groups on several nodes: their results on nodes of different sizes and with
// interleaved ranks, in one piece and in segments, by the chosen algorithms and by every other; and
// which messages they send.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "algo/algo.h"
#include "algo/pairwise.h"
#include "group/test_nodes.h"
#include "group/test_v_calls.h"
#include "plan/check.h"
#include "plan/simulate.h"
#include "trace/tracer.h"

namespace tutti::group::test {
namespace {

using plan::Collective;
using v_calls::all_calls;

// The memory of a rank. The slots are short, so that calls have several segments.
constexpr size_t small_area = 17 * 1024;

const std::vector<std::vector<int32_t>> node_maps = {
    {0, 1}, {0, 0, 1, 1}, {0, 1, 0, 1, 1}, {2, 0, 1}, {0, 0, 0, 1, 0, 2, 2}, {0, 1, 1, 2, 2, 3}};

placement::Levels levels_of(const std::vector<int32_t>& nodes) {
  return placement::Levels({{"node", nodes, 0}});
}

TEST(VOnNodes, AreWhereMpiSays) {
  for (const std::vector<int32_t>& nodes : node_maps) {
    SCOPED_TRACE(testing::PrintToString(nodes));
    with_nodes(
        nodes, {}, [](Group& group) { all_calls(group, std::array<size_t, 4>{0, 2, 40, 1200}); },
        small_area, levels_of(nodes), nodes.size() < 4);
  }
}

TEST(VOnNodes, InShortSegments) {
  select::Overrides overrides;
  overrides.segment_bytes = 640;
  for (const size_t map : {size_t{2}, size_t{4}}) {
    with_nodes(
        node_maps[map], overrides,
        [](Group& group) { all_calls(group, std::array<size_t, 2>{40, 500}); }, small_area,
        levels_of(node_maps[map]));
  }
}

TEST(VOnNodes, UnlikeTheLastOnes) {
  for (const std::vector<int32_t>& nodes : node_maps)
    with_nodes(nodes, {}, v_calls::calls_unlike_the_last, 64 * 1024, levels_of(nodes));
}

TEST(VOnNodes, OneIsLong) {
  for (const size_t map : {size_t{0}, size_t{1}})
    with_nodes(node_maps[map], {}, v_calls::one_is_long, 64 * 1024, levels_of(node_maps[map]));
}

// From the second call on, the parts of an alltoall and a scatter travel in records within each
// node, until one has no room, and as far as slots hold them.
TEST(VOnNodes, InLongRecords) {
  for (const size_t area : {size_t{128} << 10, size_t{2} << 20}) {
    for (const std::vector<int32_t>& nodes : node_maps) {
      SCOPED_TRACE(testing::PrintToString(nodes));
      with_nodes(
          nodes, {},
          [](Group& group) {
            int round = 0;
            for (const size_t scale : {300, 300, 700, 700, 1000, 1000, 1030, 4, 900, 2000, 2000,
                                       700, 7000, 6000, 9000}) {
              for (const int root : {0, group.ranks() - 1})
                v_calls::scatter(group, {Collective::scatter, scale, root, false, false, ++round});
              const bool in_place = ++round % 2 == 0;
              v_calls::alltoall(group, {Collective::alltoall, scale, 0, in_place, false, round});
            }
          },
          area, levels_of(nodes));
    }
  }
}

// The operations that rank 1 executes in a call whose parts all have this length, after an equal
// one.
size_t operations_of(Collective collective, size_t bytes) {
  const std::vector<int32_t> nodes{0, 0, 1};
  size_t operations = 0;
  trace::Tracer tracer({});
  with_nodes(
      nodes, {},
      [&](Group& group) {
        const auto executed = [&] {
          const trace::Ring::Contents contents = tracer.ring().contents();
          EXPECT_EQ(contents.lost, 0u);
          return std::count_if(contents.first.begin(), contents.first.end(), [](auto& record) {
            return (record.what & 0xFF) == static_cast<uint32_t>(trace::Kind::operation);
          });
        };
        const std::vector<size_t> lengths(nodes.size(), bytes);
        std::vector<ptrdiff_t> at(nodes.size());
        for (size_t i = 0; i < at.size(); ++i) at[i] = static_cast<ptrdiff_t>(i * bytes);
        std::vector<std::byte> in(nodes.size() * bytes), out(nodes.size() * bytes);
        const exec::VParts parts{{at.data(), lengths.data()}, {at.data(), lengths.data()}};
        ptrdiff_t before = 0;
        for (int call = 0; call < 2; ++call) {
          before = executed();
          ASSERT_EQ(
              v_collective(group, collective, in.data(), out.data(), parts, unknown_length, 0),
              Code::ok);
        }
        if (group.rank() == 1) operations = static_cast<size_t>(executed() - before);
      },
      size_t{4} << 20, levels_of(nodes), false, {}, &tracer);
  return operations;
}

// A scatter's part of 64 KiB and an alltoall's of 16 KiB travel with their lengths. Longer ones
// need one operation for the length and one for the parts.
TEST(VOnNodes, RecordsSaveAnOperation) {
  const size_t scattered = operations_of(Collective::scatter, 8);
  EXPECT_EQ(operations_of(Collective::scatter, 65536), scattered);
  EXPECT_EQ(operations_of(Collective::scatter, 262144), scattered + 1);
  const size_t exchanged = operations_of(Collective::alltoall, 8);
  EXPECT_EQ(operations_of(Collective::alltoall, 16384), exchanged);
  EXPECT_EQ(operations_of(Collective::alltoall, 65536), exchanged + 1);
  // A gather's parts are messages, whatever their length.
  EXPECT_EQ(operations_of(Collective::gather, 8), 1u);
  EXPECT_EQ(operations_of(Collective::gather, 262144), 1u);
}

// In an allgather and a reduce_scatter any algorithm serves parts of different lengths.
TEST(VOnNodes, ByEveryAlgorithm) {
  size_t turn = 0;
  for (const algo::Algorithm& algorithm : algo::algorithms()) {
    for (const Collective collective : algorithm.collectives) {
      if (collective != Collective::allgather && collective != Collective::reduce_scatter) continue;
      SCOPED_TRACE(std::string(plan::name(collective)) + " by " + std::string(algorithm.name));
      select::Overrides overrides;
      overrides.algorithm[static_cast<size_t>(collective)] = std::string(algorithm.name);
      const std::vector<int32_t>& nodes = node_maps[turn++ % node_maps.size()];
      with_nodes(
          nodes, overrides,
          [&](Group& group) {
            int round = 0;
            for (const size_t scale : {size_t{2}, size_t{100}, size_t{3000}})
              for (const bool in_place : {false, true})
                v_calls::perform(group, {collective, scale, 0, in_place, true, ++round});
          },
          small_area, levels_of(nodes));
    }
  }
}

// Operations of the usual kind between v-collectives, whose ranks do different things on different
// nodes: tags and words must agree afterwards.
TEST(VOnNodes, AmongOtherOperations) {
  for (const std::vector<int32_t>& nodes : node_maps) {
    with_nodes(
        nodes, {},
        [](Group& group) {
          for (int round = 1; round < 24; ++round) {
            const int root = round % group.ranks();
            const size_t scale = size_t{1} << (round % 12);
            v_calls::perform(group, {Collective::gather, scale, root, false, false, round});
            std::vector<uint64_t> data(scale, group.rank() == root ? scale + round : 0);
            ASSERT_EQ(bcast(group, data.data(), scale * sizeof(uint64_t), root), Code::ok);
            EXPECT_EQ(std::count(data.begin(), data.end(), scale + round),
                      static_cast<ptrdiff_t>(scale));
            v_calls::perform(group, {Collective::alltoall, scale, 0, round % 2 == 0, false, round});
            ASSERT_EQ(barrier(group), Code::ok) << group.failure();
          }
        },
        64 * 1024, levels_of(nodes));
  }
}

// The messages that all ranks send in one call, in which rank i has lengths[i] bytes for each other
// rank; in a gather and a scatter rank 1 is the root.
int64_t messages_of(Collective collective, const std::vector<int32_t>& nodes,
                    const std::vector<size_t>& lengths) {
  const std::vector<int64_t> sent = with_nodes(
      nodes, {},
      [&](Group& group) {
        const auto rank = static_cast<size_t>(group.rank());
        const size_t ranks = lengths.size();
        std::vector<size_t> out_bytes = lengths, in_bytes(ranks, lengths[rank]);
        if (collective == Collective::scatter) {
          in_bytes = lengths;
          out_bytes.assign(1, lengths[rank]);
        }
        std::vector<ptrdiff_t> at(ranks);
        for (size_t i = 0; i < ranks; ++i) at[i] = static_cast<ptrdiff_t>(i * 4096);
        std::vector<std::byte> in(ranks * 4096), out(ranks * 4096);
        const exec::VParts parts{{at.data(), in_bytes.data()}, {at.data(), out_bytes.data()}};
        ASSERT_EQ(v_collective(group, collective, in.data(), out.data(), parts, unknown_length,
                               plan::rooted(collective) ? 1 : 0),
                  Code::ok);
      },
      64 * 1024, levels_of(nodes));
  return std::accumulate(sent.begin(), sent.end(), int64_t{0});
}

TEST(VOnNodes, APartWithoutDataIsNoMessage) {
  const std::vector<int32_t> nodes{0, 0, 1, 1, 1};
  EXPECT_EQ(messages_of(Collective::gather, nodes, {8, 8, 8, 8, 8}), 4);
  EXPECT_EQ(messages_of(Collective::gather, nodes, {8, 8, 0, 8, 0}), 2);
  EXPECT_EQ(messages_of(Collective::scatter, nodes, {8, 8, 8, 4000, 8}), 3);
  EXPECT_EQ(messages_of(Collective::scatter, nodes, {0, 0, 0, 0, 1}), 1);
  EXPECT_EQ(messages_of(Collective::alltoall, nodes, {8, 8, 8, 8, 8}), 12);
  EXPECT_EQ(messages_of(Collective::alltoall, nodes, {8, 0, 0, 0, 0}), 3);
}

// Both parts of a pairwise plan together are the whole collective, in every order that waits allow.
TEST(VOnNodes, PairwisePlansHoldInAllOrders) {
  for (const std::vector<int32_t>& of : node_maps) {
    const placement::Nodes nodes(of);
    const auto ranks = static_cast<int>(of.size());
    for (const Collective collective :
         {Collective::gather, Collective::scatter, Collective::alltoall}) {
      for (int root = 0; root < (plan::rooted(collective) ? ranks : 1); ++root) {
        const plan::Plan plan = algo::pairwise(algo::Pairs::both, collective, ranks, root, nodes);
        plan::validate(plan);
        plan::check(plan);
        std::vector<int32_t> all(of.size());
        std::iota(all.begin(), all.end(), 0);
        const plan::Plan staged = plan::stage(plan, nodes, plan::Buffers::two);
        std::vector<plan::Program> programs = plan::lower(
            staged, plan::depend(staged, plan::Carrier::slot), all, plan::Carrier::slot);
        for (plan::Program& program : programs) program.in_place = false;
        plan::Simulation how;
        how.nodes = nodes;
        EXPECT_NO_THROW(plan::simulate(plan, programs, how));
      }
    }
  }
}

// Also between ranks of one node, whose parts of a gather are messages.
TEST(VOnNodes, AnotherCallFails) {
  // Indexed by rank. They outlive the ranks, because rank 2 may send to rank 0 after that has
  // failed.
  std::array<std::array<uint64_t, 3>, 3> all_in{}, all_out{};
  with_nodes({0, 0, 1}, {}, [&](Group& group) {
    auto& in = all_in[static_cast<size_t>(group.rank())];
    auto& out = all_out[static_cast<size_t>(group.rank())];
    const std::array<ptrdiff_t, 3> at{0, 8, 16};
    const std::array<size_t, 3> bytes{8, 8, 8};
    const exec::Parts parts{at.data(), bytes.data()};
    const Code code = group.rank() == 1
                          ? bcast(group, out.data(), 8, 0)
                          : v_collective(group, Collective::gather, in.data(), out.data(),
                                         {parts, parts}, unknown_length, 0);
    EXPECT_EQ(code, group.rank() == 2 ? Code::ok : Code::mismatch);
    if (group.rank() == 0) {
      EXPECT_NE(group.failure().find("while rank 1 called bcast"), std::string::npos)
          << group.failure();
    }
  });
}

TEST(VOnNodes, ARankOfTheNodeThatIsGoneIsNoticed) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_GT(child, 0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  const placement::Nodes nodes({0, 0, 1});
  const shm::Layout layout = shm::Layout::fit(2, 64 * 1024);
  struct alignas(shm::page_size) Page {
    std::byte bytes[shm::page_size];
  };
  std::vector<Page> memory(layout.bytes() / shm::page_size + 1);
  exec::Mailboxes mailboxes;
  std::vector<std::unique_ptr<exec::Mailboxes::Box>> boxes;
  std::vector<std::unique_ptr<Group>> groups;
  for (const int rank : {0, 1}) {
    Group::Settings settings;
    settings.layout = layout;
    settings.areas = memory.front().bytes;
    settings.rank = rank;
    settings.ranks = 3;
    settings.nodes = nodes;
    settings.process = static_cast<uint64_t>(rank == 0 ? getpid() : child);
    settings.net =
        boxes.emplace_back(std::make_unique<exec::Mailboxes::Box>(mailboxes, rank)).get();
    settings.style = exec::WaitStyle::yield;
    groups.push_back(std::make_unique<Group>(settings));
  }
  const std::array<ptrdiff_t, 3> at{0, 8, 16};
  const std::array<size_t, 3> bytes{8, 8, 8};
  std::array<uint64_t, 3> in{}, out{};
  const exec::Parts parts{at.data(), bytes.data()};
  Group& group = *groups.front();
  EXPECT_EQ(v_collective(group, Collective::gather, in.data(), out.data(), {parts, parts},
                         unknown_length, 0),
            Code::dead_peer);
  EXPECT_NE(group.failure().find("rank 1 (process " + std::to_string(child) + ") is gone"),
            std::string::npos)
      << group.failure();
}

// A message that is longer than what its receiver expects is a mismatched call.
TEST(VOnNodes, PartsOfDifferentLengthsAtTheirEndsFail) {
  with_nodes({0, 1}, {}, [](Group& group) {
    const ptrdiff_t at[2] = {0, 512};
    const size_t in_bytes[1] = {100}, out_bytes[2] = {100, 50};
    std::vector<std::byte> in(100), out(1024);
    const bool is_root = group.rank() == 0;
    const exec::VParts parts{{at, in_bytes}, is_root ? exec::Parts{at, out_bytes} : exec::Parts{}};
    const Code code =
        v_collective(group, Collective::gather, in.data(), out.data(), parts, unknown_length, 0);
    EXPECT_EQ(code, is_root ? Code::unavailable : Code::ok);
    EXPECT_EQ(group.failure().empty(), !is_root);
  });
}

}  // namespace
}  // namespace tutti::group::test
