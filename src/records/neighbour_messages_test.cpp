// Tests the programs of neighbourhood collectives between nodes: lanes of thread ranks that share
// no memory run them, one step after another in a random order of ranks, and every block must be
// where MPI says.
#include "records/neighbour_messages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "records/test_topologies.h"
#include "exec/lane.h"
#include "exec/test_mailboxes.h"

namespace tutti::records {
namespace {

using plan::Collective;

// A rank that is alone on its node, and its lane.
class Rank {
 public:
  Rank(exec::Mailboxes& boxes, int rank)
      : layout_(shm::Layout::fit(1, shm::smallest_area)),
        areas_(static_cast<std::byte*>(std::aligned_alloc(64, (layout_.bytes() + 63) / 64 * 64))),
        box_(boxes, rank) {
    std::memset(areas_.get(), 0, layout_.bytes());
    exec::Channel::Settings settings;
    settings.style = exec::WaitStyle::yield;
    settings.members = {rank};
    settings.net = &box_;
    lane_ = std::make_unique<exec::Lane>(areas_.get(), layout_, rank, settings);
  }
  exec::Lane& lane() { return *lane_; }
  int64_t sent() const { return box_.sent(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  shm::Layout layout_;
  std::unique_ptr<std::byte, Free> areas_;
  exec::Mailboxes::Box box_;
  std::unique_ptr<exec::Lane> lane_;
};

// How many numbers a block of a rank's `in` has: 0 to 3, sometimes too many for a short message.
size_t length_of(const Origin& block, unsigned round) {
  const auto length = static_cast<size_t>(block.rank + 2 * block.block + static_cast<int>(round));
  return length % 11 == 10 ? 1500 : length % 4;
}
int64_t number_of(const Origin& block, size_t i, unsigned round) {
  return 1000000 * block.rank + 1000 * block.block + static_cast<int64_t>(i % 700) + 7 * round;
}

// The parts of a rank's buffer. Those of `in` lie side by side, those of `out` have gaps.
struct Side {
  std::vector<ptrdiff_t> at;
  std::vector<size_t> bytes;
  std::vector<int64_t> data;

  void add(size_t numbers, size_t gap) {
    at.push_back(static_cast<ptrdiff_t>(data.size() * sizeof(int64_t)));
    bytes.push_back(numbers * sizeof(int64_t));
    data.resize(data.size() + numbers + gap, -7);
  }
  int64_t* block(size_t i) { return data.data() + at[i] / static_cast<ptrdiff_t>(sizeof(int64_t)); }
  exec::Parts parts() const { return {at.data(), bytes.data()}; }
};

// One operation of one rank.
struct Call {
  Side in, out, wanted;
  std::shared_ptr<exec::LaneOperation> operation = std::make_shared<exec::LaneOperation>();
};

class Moves {
 public:
  Moves(Topology topology, Origins origins)
      : topology_(std::move(topology)), origins_(std::move(origins)), calls_(topology_.size()) {
    for (size_t rank = 0; rank < topology_.size(); ++rank)
      ranks_.push_back(std::make_unique<Rank>(boxes_, static_cast<int>(rank)));
  }

  // Issues some operations at all ranks, drives them, and compares all blocks of `out`.
  void run(Collective collective, unsigned rounds) {
    for (size_t rank = 0; rank < ranks_.size(); ++rank) bind(collective, rank);
    for (unsigned round = 0; round < rounds; ++round)
      for (size_t rank = 0; rank < ranks_.size(); ++rank) issue(collective, rank, round);
    std::mt19937 random(5);
    for (size_t turns = 0; !all_over(); ++turns) {
      ASSERT_LT(turns, 100000u);
      ranks_[random() % ranks_.size()]->lane().drive();
    }
    for (size_t rank = 0; rank < ranks_.size(); ++rank)
      for (Call& call : calls_[rank]) {
        ASSERT_EQ(call.operation->code, Code::ok) << call.operation->failure;
        ASSERT_EQ(call.out.data, call.wanted.data) << "rank " << rank << " of " << ranks_.size();
      }
    for (auto& own : calls_) own.clear();
  }
  Rank& rank(size_t i) { return *ranks_[i]; }

 private:
  void bind(Collective collective, size_t rank) {
    bound_.resize(ranks_.size());
    bound_[rank] = ranks_[rank]->lane().channel().bind(
        std::make_shared<const plan::Program>(neighbours_by_messages(
            collective, static_cast<int>(rank), static_cast<int>(ranks_.size()), topology_[rank])));
  }

  void issue(Collective collective, size_t rank, unsigned round) {
    const Neighbourhood& own = topology_[rank];
    Call& call = calls_[rank].emplace_back();
    const auto given = plan::parted_in(collective) ? own.destinations.size() : size_t{1};
    for (size_t i = 0; i < given; ++i) {
      const Origin block{static_cast<int32_t>(rank), static_cast<int32_t>(i)};
      call.in.add(length_of(block, round), 0);
      for (size_t k = 0; k < length_of(block, round); ++k)
        call.in.block(i)[k] = number_of(block, k, round);
    }
    for (Origin block : origins_[rank]) {
      if (!plan::parted_in(collective)) block.block = 0;
      call.out.add(block.rank < 0 ? 0 : length_of(block, round), 1);
    }
    call.wanted = call.out;
    for (size_t i = 0; i < call.out.at.size(); ++i) {
      Origin block = origins_[rank][i];
      if (!plan::parted_in(collective)) block.block = 0;
      for (size_t k = 0; k < call.out.bytes[i] / sizeof(int64_t); ++k)
        call.wanted.block(i)[k] = number_of(block, k, round);
    }
    // The longest part of a rank need not be that of another.
    size_t longest = 0;
    for (const Side* side : {&call.in, &call.out})
      for (const size_t bytes : side->bytes) longest = std::max(longest, bytes);
    exec::LaneOperation& made = *call.operation;
    made.bound = bound_[rank];
    made.parts = {call.in.parts(), call.out.parts()};
    made.operation = {
        call.in.data.data(), call.out.data.data(), longest, longest, nullptr, longest};
    made.operation.call = exec::call_signature(collective, exec::bytes_among_neighbours, 0);
    made.operation.v_parts = &made.parts;
    ranks_[rank]->lane().issue(call.operation);
  }

  bool all_over() const {
    for (const auto& own : calls_)
      for (const Call& call : own)
        if (!call.operation->is_over()) return false;
    return true;
  }

  const Topology topology_;
  const Origins origins_;
  exec::Mailboxes boxes_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::vector<std::shared_ptr<const exec::BoundProgram>> bound_;
  std::vector<std::deque<Call>> calls_;  // indexed by rank
};

void expect_moves(const Topology& topology, const Origins& origins) {
  Moves moves(topology, origins);
  for (const Collective collective : {Collective::alltoall, Collective::allgather})
    moves.run(collective, 3);
}

TEST(NeighbourMessages, AllSmallGrids) {
  for_small_grids([](const Grid& grid) { expect_moves(topology_of(grid), origins_of(grid)); });
}

TEST(NeighbourMessages, RandomGraphs) {
  std::mt19937 random(8);
  for (int round = 0; round < 100; ++round) {
    const auto ranks = 1 + random() % 8;
    const Topology graph = random_graph(random, ranks, random() % (3 * ranks + 1));
    expect_moves(graph, origins_of(graph));
    if (HasFailure()) FAIL() << "round " << round;
  }
}

// More edges between two ranks than they have messages.
TEST(NeighbourMessages, ManyEdgesBetweenTwoRanks) {
  std::mt19937 random(9);
  const Topology graph = random_graph(random, 2, 700);
  Moves moves(graph, origins_of(graph));
  moves.run(Collective::alltoall, 4);
  EXPECT_LE(moves.rank(0).sent(), 4 * 64);
  EXPECT_GE(moves.rank(0).sent(), 4 * 40);
}

// Blocks without data have no message, and ranks without edges need none.
TEST(NeighbourMessages, NothingIsSentInVain) {
  const Topology graph{
      {}, {.sources = {}, .destinations = {2}}, {.sources = {1}, .destinations = {}}};
  Moves moves(graph, origins_of(graph));
  moves.run(Collective::alltoall, 8);  // the blocks have 1, 2, 3 and 0 numbers in turn
  EXPECT_EQ(moves.rank(0).sent(), 0);
  EXPECT_EQ(moves.rank(1).sent(), 6);
}

TEST(NeighbourMessages, ProgramsOfAllRanksHaveEquallyManyTransfers) {
  const Neighbourhood none, one{.sources = {1}, .destinations = {1}};
  const auto transfers = [](const Neighbourhood& own) {
    return neighbours_by_messages(Collective::alltoall, 0, 2, own).transfers;
  };
  EXPECT_EQ(transfers(none), transfers(one));
}

TEST(NeighbourMessages, AnEdgeToItselfHasTwoEnds) {
  EXPECT_EQ(edges_with_one_end(1, {.sources = {1, 0, 1}, .destinations = {1, 1, 0, 2}}), "");
  const Neighbourhood uneven{.sources = {1, 0}, .destinations = {1, 1}};
  EXPECT_EQ(edges_with_one_end(1, uneven),
            "rank 1 has 2 edges that lead to itself, but 1 that come from itself; make the "
            "communicator's graph with each edge at both of its ranks");
  const plan::Program program = neighbours_by_messages(Collective::alltoall, 1, 2, uneven);
  EXPECT_EQ(program.operands.size(), 2u) << "one edge is copied";
}

}  // namespace
}  // namespace tutti::records
