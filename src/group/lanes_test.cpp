// Tests lanes of thread ranks on several nodes: operations that outlive their call give the results
// of blocking ones, whoever drives them, however many are under way, and in whatever order ranks
// wait for them. Ranks may issue operations that name their lanes in different orders.
#include "group/lanes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <random>
#include <set>

#include "algo/algo.h"
#include "group/test_calls.h"
#include "group/test_functions.h"
#include "group/test_nodes.h"
#include "group/test_v_calls.h"

namespace tutti::group::test {
namespace {

using exec::Lane;

constexpr size_t small_area = 17 * 1024;  // slots are short, so that calls have several segments

// The lanes of all ranks. Ranks of one node share areas.
class LanesOfRanks {
 public:
  // `tracers`: indexed by rank; empty: nothing is recorded.
  LanesOfRanks(const std::vector<int32_t>& nodes, const select::Overrides& overrides,
               size_t slot_bytes, const placement::Levels& levels, int lanes = Lanes::count,
               const std::vector<std::unique_ptr<trace::Tracer>>& tracers = {})
      : mailboxes_(static_cast<size_t>(lanes)) {
    const auto ranks = static_cast<int32_t>(nodes.size());
    const placement::Nodes apart(nodes);
    for (int32_t rank = 0; rank < ranks; ++rank) {
      const std::vector<int32_t> here = apart.members(rank, ranks);
      Group::Settings settings;
      settings.layout = shm::Layout::fit(static_cast<int32_t>(here.size()), slot_bytes);
      settings.rank = rank;
      settings.ranks = ranks;
      settings.nodes = apart;
      settings.style = exec::WaitStyle::yield;
      settings.overrides = overrides;
      settings.levels = levels;
      if (!tracers.empty()) settings.tracer = tracers[static_cast<size_t>(rank)].get();
      std::vector<Lanes::Place> places;
      for (int lane = 0; lane < lanes; ++lane) {
        std::unique_ptr<std::byte, Free>& areas = areas_[{here.front(), lane}];
        if (areas == nullptr) {
          areas.reset(static_cast<std::byte*>(
              ::operator new(settings.layout.bytes(), std::align_val_t{shm::page_size})));
          std::memset(areas.get(), 0, settings.layout.bytes());
        }
        boxes_.push_back(
            std::make_unique<exec::Mailboxes::Box>(mailboxes_[static_cast<size_t>(lane)], rank));
        places.push_back({areas.get(), boxes_.back().get(),
                          trace::first_epoch_of_lane(static_cast<size_t>(lane))});
      }
      all_.push_back(std::make_unique<Lanes>(settings, places));
    }
  }
  Lanes& of(int rank) { return *all_[static_cast<size_t>(rank)]; }
  // Returns the box of the only lane.
  exec::Mailboxes::Box& box(int rank) { return *boxes_[static_cast<size_t>(rank)]; }

 private:
  struct Free {
    void operator()(std::byte* areas) const {
      ::operator delete(areas, std::align_val_t{shm::page_size});
    }
  };
  std::vector<exec::Mailboxes> mailboxes_;
  std::vector<std::unique_ptr<exec::Mailboxes::Box>> boxes_;
  std::map<std::pair<int32_t, int>, std::unique_ptr<std::byte, Free>> areas_;
  std::vector<std::unique_ptr<Lanes>> all_;
};

// A thread that drives the lanes of one rank, as a server does.
class ServerOfRank {
 public:
  explicit ServerOfRank(Lanes& lanes)
      : thread_([this, &lanes] {
          while (!ends_) {
            if (lanes.drive_for_others() != Lane::Turn::moved) std::this_thread::yield();
          }
        }) {}
  ~ServerOfRank() {
    ends_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

// One call of one rank, by its blocking group and by a lane, with the same data.
struct TwoCalls {
  Vector in, by_group, by_lane;
  exec::Combine combine = sum_of_integers();
  bool in_place = false;
  bool has_out = false;
  Lanes::Issued issued;

  Call call(const TestCall& of, Vector& out) {
    Call made{of.collective, in.data(), has_out ? out.data() : nullptr, of.count, of.root, nullptr};
    if (plan::combines(of.collective))
      made.combine = &combine;
    else
      made.count = of.count * 8;
    if (in_place) made.in = out.data();
    if (plan::one_buffer(of.collective)) made.in = made.out = out.data();
    return made;
  }
};

std::unique_ptr<TwoCalls> begin(Group& group, Lanes& lanes, const TestCall& of) {
  auto made = std::make_unique<TwoCalls>();
  const plan::Definition definition{of.collective, group.ranks(), of.root};
  const auto ranks = static_cast<size_t>(group.ranks());
  made->has_out = definition.has_out(group.rank());
  made->in =
      data_of(of.round, group.rank(), of.count * (plan::parted_in(of.collective) ? ranks : 1));
  const size_t out = of.count * (plan::parted_out(of.collective) ? ranks : 1);
  made->by_group.assign(made->has_out ? out : 0, untouched);
  const bool whole = plan::parted_in(of.collective) == plan::parted_out(of.collective);
  made->in_place = of.in_place && made->has_out && whole;
  if (made->in_place || (plan::one_buffer(of.collective) && group.rank() == of.root))
    made->by_group = made->in;
  if (plan::one_buffer(of.collective)) made->has_out = true, made->by_group.resize(out, untouched);
  made->by_lane = made->by_group;
  EXPECT_EQ(group.run(made->call(of, made->by_group)), Code::ok) << group.failure();
  made->issued = lanes.issue(made->call(of, made->by_lane));
  return made;
}

void end(const TestCall& of, TwoCalls& made, int rank) {
  while (!made.issued.operation->is_over()) {
    if (made.issued.lane->drive() != Lane::Turn::moved) std::this_thread::yield();
  }
  EXPECT_EQ(made.issued.operation->code, Code::ok) << made.issued.operation->failure;
  EXPECT_EQ(made.by_lane, made.by_group) << plan::name(of.collective) << " of " << of.count
                                         << ", root " << of.root << ", rank " << rank;
}

// All ranks make the calls, wait for them in orders of their own, and some have servers.
void call_all(Group& group, Lanes& lanes, const std::vector<TestCall>& calls, unsigned seed) {
  std::mt19937 random(seed * 1000 + static_cast<unsigned>(group.rank()));
  std::unique_ptr<ServerOfRank> server;
  if (random() % 2 == 0) server = std::make_unique<ServerOfRank>(lanes);
  std::vector<std::unique_ptr<TwoCalls>> made;
  for (const TestCall& call : calls) made.push_back(begin(group, lanes, call));
  std::vector<size_t> order(calls.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  // Without a server a rank that waits must drive its other lanes, too.
  if (server != nullptr) std::shuffle(order.begin(), order.end(), random);
  for (const size_t i : order) {
    if (server == nullptr) lanes.drive_for_others();
    end(calls[i], *made[i], group.rank());
  }
  while (!lanes.is_idle()) std::this_thread::yield();
}

std::vector<TestCall> calls_of(Collective collective, int ranks) {
  std::vector<TestCall> calls;
  int round = 1;
  for (const size_t count : {size_t{3}, size_t{3000}}) {
    for (const bool in_place : {false, true}) {
      const int root = plan::rooted(collective) ? (round * 3) % ranks : 0;
      calls.push_back({collective, plan::has_data(collective) ? count : 0, root, in_place, round});
      ++round;
    }
  }
  return calls;
}

const std::vector<std::vector<int32_t>> node_maps = {
    {0, 0, 1, 1}, {0, 1}, {2, 0, 1}, {0, 1, 0, 1, 1}};

select::Overrides asking_for(Collective collective, const std::string& algorithm) {
  select::Overrides overrides;
  overrides.algorithm[static_cast<size_t>(collective)] = algorithm;
  return overrides;
}

TEST(Lanes, EveryAlgorithmGivesTheResultOfTheBlockingCall) {
  unsigned turn = 0;
  for (const algo::Algorithm& algorithm : algo::algorithms()) {
    if (algorithm.name.find("host") != std::string::npos) continue;
    for (const Collective collective : algorithm.collectives) {
      const std::vector<int32_t>& nodes = node_maps[turn++ % node_maps.size()];
      SCOPED_TRACE(std::string(plan::name(collective)) + " by " + std::string(algorithm.name));
      const select::Overrides overrides = asking_for(collective, std::string(algorithm.name));
      const placement::Levels levels({{"node", nodes, 0}});
      LanesOfRanks lanes(nodes, overrides, small_area, levels);
      with_nodes(
          nodes, overrides,
          [&](Group& group) {
            call_all(group, lanes.of(group.rank()), calls_of(collective, group.ranks()), turn);
          },
          small_area, levels);
    }
  }
}

TEST(Lanes, OperationsOfAllKindsAreUnderWayAtOnce) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const std::vector<int32_t>& nodes = node_maps[seed % node_maps.size()];
    const placement::Levels levels({{"node", nodes, 0}});
    std::mt19937 random(seed);
    std::vector<TestCall> calls;
    for (int round = 1; round <= 40; ++round) {
      const auto collective = static_cast<Collective>(random() % plan::collective_count);
      const auto ranks = static_cast<unsigned>(nodes.size());
      const int root = plan::rooted(collective) ? static_cast<int>(random() % ranks) : 0;
      const size_t count = plan::has_data(collective) ? 1 + random() % 3000 : 0;
      calls.push_back({collective, count, root, random() % 2 == 0, round});
    }
    LanesOfRanks lanes(nodes, {}, small_area, levels, seed % 2 == 0 ? 1 : Lanes::count);
    with_nodes(
        nodes, {}, [&](Group& group) { call_all(group, lanes.of(group.rank()), calls, seed); },
        small_area, levels);
  }
}

// A rank whose calls run in its lanes, one at a time, for the functions of test_v_calls.h.
struct InLanes {
  Lanes& own;
  const Group& group;
  std::string failed{};

  int rank() const { return group.rank(); }
  int ranks() const { return group.ranks(); }
  const std::string& failure() const { return failed; }
  Code run(const Call& call) {
    const Lanes::Issued issued = own.issue(call);
    if (issued.operation == nullptr) return Code::ok;
    while (!issued.operation->is_over()) {
      if (issued.lane->drive() != Lane::Turn::moved) std::this_thread::yield();
    }
    failed = issued.operation->failure;
    return issued.operation->code;
  }
};

Code v_collective(InLanes& ranks, Collective collective, const void* in, void* out,
                  const exec::VParts& parts, size_t longest, int root) {
  return ranks.run({collective, in, out, 0, root, nullptr, &parts, longest});
}
Code v_reduce_scatter(InLanes& ranks, const void* in, void* out, const exec::VParts& parts,
                      size_t longest, const exec::Combine& combine) {
  return ranks.run({Collective::reduce_scatter, in, out, 0, 0, &combine, &parts, longest});
}

TEST(Lanes, VCollectivesAreWhereMpiSays) {
  for (const std::vector<int32_t>& nodes : node_maps) {
    SCOPED_TRACE(testing::PrintToString(nodes));
    const placement::Levels levels({{"node", nodes, 0}});
    LanesOfRanks lanes(nodes, {}, small_area, levels);
    with_nodes(
        nodes, {},
        [&](Group& group) {
          InLanes in_lanes{lanes.of(group.rank()), group};
          v_calls::all_calls(in_lanes, std::array<size_t, 4>{0, 2, 40, 1200});
        },
        small_area, levels);
  }
}

// A rank that gives parts to others of its node and has nothing to do with other nodes waits for
// none of them.
TEST(Lanes, AVCollectiveWaitsForNoAgreement) {
  const std::vector<int32_t> nodes{0, 0, 1};
  LanesOfRanks lanes(nodes, {}, 64 * 1024, {});
  std::atomic<bool> is_over{false};
  with_nodes(nodes, {}, [&](Group& group) {
    Lanes& own = lanes.of(group.rank());
    std::vector<uint64_t> in(3, static_cast<uint64_t>(group.rank()) + 1), out(3, 0);
    const ptrdiff_t at[] = {0, 8, 16};
    const size_t of_all[] = {8, 8, 8}, one[] = {8};
    const exec::VParts parts{{at, one},
                             group.rank() == 0 ? exec::Parts{at, of_all} : exec::Parts{}};
    // Ranks 1 and 2 give their parts while the root is elsewhere.
    while (group.rank() == 0 && !is_over) std::this_thread::yield();
    const auto made = own.issue(
        {Collective::gather, in.data(), out.data(), 0, 0, nullptr, &parts, unknown_length});
    while (!made.operation->is_over()) {
      made.lane->drive();
      // The last rank's part leaves at once, and its operation is over.
      if (group.rank() == 2) is_over = made.operation->is_over();
    }
    EXPECT_EQ(made.operation->code, Code::ok) << made.operation->failure;
    if (group.rank() == 0) {
      EXPECT_EQ(out, (Vector{1, 2, 3}));
    }
  });
}

// Persistent collectives do so: their ranks start them in different orders.
TEST(Lanes, OperationsThatNameTheirLanesComeInAnyOrder) {
  const std::vector<int32_t> nodes{0, 0, 1, 1};
  LanesOfRanks lanes(nodes, {}, small_area, {});
  with_nodes(nodes, {}, [&](Group& group) {
    constexpr size_t rounds = 20, count = 500;
    Lanes& own = lanes.of(group.rank());
    const ServerOfRank server(own);
    const exec::Combine combine = sum_of_integers();
    std::mt19937 random(static_cast<unsigned>(group.rank()));
    std::array<Vector, Lanes::count> in, out;
    std::array<Group::Prepared, Lanes::count> prepared;
    std::array<size_t, Lanes::count> order{};
    for (size_t lane = 0; lane < in.size(); ++lane) {
      order[lane] = lane;
      in[lane].resize(count), out[lane].resize(count);
      prepared[lane] = own.prepare({Collective::allreduce, in[lane].data(), out[lane].data(),
                                    lane % 2 == 0 ? count : 3, 0, &combine});
    }
    for (size_t round = 0; round < rounds; ++round) {
      std::array<Lanes::Issued, Lanes::count> issued;
      std::shuffle(order.begin(), order.end(), random);
      for (const size_t lane : order) {
        in[lane].assign(count, lane + round + static_cast<size_t>(group.rank()));
        issued[lane] = own.issue(lane, prepared[lane]);
      }
      std::shuffle(order.begin(), order.end(), random);
      for (const size_t lane : order) {
        while (!issued[lane].operation->is_over()) std::this_thread::yield();
        ASSERT_EQ(issued[lane].operation->code, Code::ok) << issued[lane].operation->failure;
        EXPECT_EQ(out[lane].front(), 6 + 4 * (lane + round));
      }
    }
    for (size_t lane = 0; lane < in.size(); ++lane) EXPECT_FALSE(own.has_failed(lane));
  });
}

// Long messages are driven while they are awaited, however late such waits usually end.
TEST(Lanes, LongMessagesAskForLooksThatDriveThem) {
  using std::chrono::milliseconds;
  using Times = exec::LookTimes;
  LanesOfRanks lanes({0, 1}, {}, 64 * 1024, {}, 1);
  Lanes &sender = lanes.of(0), &receiver = lanes.of(1);
  std::vector<std::byte> in(16 * 1024), out(in.size());
  const auto in_turn = [&](size_t bytes, auto while_it_waits) {
    const Lanes::Issued received =
        receiver.issue({Collective::bcast, out.data(), out.data(), bytes, 0, nullptr});
    while (receiver.drive_for_others() == Lane::Turn::moved) {
    }
    while_it_waits();
    const Lanes::Issued sent =
        sender.issue({Collective::bcast, in.data(), in.data(), bytes, 0, nullptr});
    while (!received.operation->is_over() || !sent.operation->is_over()) {
      sender.drive_for_others();
      receiver.drive_for_others();
    }
    EXPECT_EQ(received.operation->code, Code::ok) << received.operation->failure;
  };
  const auto be_late = [&] {
    std::this_thread::sleep_until(Lane::Clock::now() + milliseconds(2));
    receiver.drive_for_others();  // this look misses
    std::this_thread::sleep_until(receiver.next_look());
  };
  // In both directions, because what a call leaves must not count in the next one.
  for (const bool is_long : {false, true, false}) {
    for (int i = 0; i < 20; ++i) in_turn(is_long ? 64 : in.size(), be_late);
    const auto before = Lane::Clock::now();
    in_turn(is_long ? in.size() : 64, [&] {
      if (is_long) {
        EXPECT_LE(receiver.next_look(), Lane::Clock::now() + Times::longest_first_driving);
      } else {
        EXPECT_GT(receiver.next_look(), before + 3 * Times::longest_first_driving);
      }
    });
  }
}

// The look for messages that leave comes late. An operation that is issued meanwhile need not wait
// for it.
TEST(Lanes, AnOperationIsLookedAtAtOnceWhileMessagesLeave) {
  LanesOfRanks lanes({0, 1}, {}, 64 * 1024, {}, 1);
  Lanes &sender = lanes.of(0), &receiver = lanes.of(1);
  std::vector<std::byte> data(64), out(data.size());
  const auto issue = [&](Lanes& own, std::vector<std::byte>& buffer) {
    return own.issue({Collective::bcast, buffer.data(), buffer.data(), buffer.size(), 0, nullptr});
  };
  lanes.box(0).keep_messages(true);
  const Lanes::Issued sent = issue(sender, data), received = issue(receiver, out);
  while (!received.operation->is_over() || !sent.operation->is_over()) {
    sender.drive_for_others();
    receiver.drive_for_others();
  }
  EXPECT_EQ(sender.drive_for_others(), Lane::Turn::waits);
  EXPECT_NE(sender.next_look(), Lane::Clock::time_point{});
  const Lanes::Issued next = issue(sender, data);
  EXPECT_EQ(sender.next_look(), Lane::Clock::time_point{});
  issue(receiver, out);
  while (!next.operation->is_over()) {
    sender.drive_for_others();
    receiver.drive_for_others();
  }
}

// A rank that computes drives nothing; its server alone completes the operation.
TEST(Lanes, AServerAloneCompletesAnOperation) {
  const std::vector<int32_t> nodes{0, 1, 1};
  LanesOfRanks lanes(nodes, {}, 64 * 1024, {});
  with_nodes(nodes, {}, [&](Group& group) {
    Lanes& own = lanes.of(group.rank());
    const ServerOfRank server(own);
    TestCall call{Collective::allreduce, 100, 0, false, 1};
    const auto made = begin(group, own, call);
    while (!made->issued.operation->is_over()) std::this_thread::yield();
    EXPECT_EQ(made->by_lane, made->by_group);
  });
}

// Operations leave their steps and a pair of records each, in the ring of their lane, whoever
// drives it. A lane that ends leaves its ring to others.
TEST(Lanes, OperationsAreRecorded) {
  const std::vector<int32_t> nodes{0, 0, 1, 1};
  std::vector<std::unique_ptr<trace::Tracer>> tracers;
  for (size_t rank = 0; rank < nodes.size(); ++rank)
    tracers.push_back(
        std::make_unique<trace::Tracer>(trace::Tracer::Settings{.records = size_t{1} << 14}));
  std::vector<TestCall> calls = calls_of(Collective::allreduce, 4);
  for (const TestCall& call : calls_of(Collective::bcast, 4)) calls.push_back(call);
  for (const TestCall& call : calls_of(Collective::barrier, 4)) calls.push_back(call);
  {
    LanesOfRanks lanes(nodes, {}, small_area, {}, Lanes::count, tracers);
    with_nodes(
        nodes, {}, [&](Group& group) { call_all(group, lanes.of(group.rank()), calls, 1); },
        small_area);
  }
  for (const auto& tracer : tracers) {
    std::set<uint64_t> epochs;
    for (const trace::Ring* const ring : tracer->rings()) {
      const trace::Ring::Contents contents = ring->contents();
      EXPECT_EQ(contents.lost, 0u);
      uint32_t steps = 0;
      for (const trace::Record& record : contents.first) {
        switch (static_cast<trace::Kind>(record.what & 0xFF)) {
          case trace::Kind::operation: EXPECT_EQ(record.segment, std::exchange(steps, 0)); break;
          case trace::Kind::details: EXPECT_TRUE(epochs.insert(record.end).second); break;
          default: EXPECT_LE(record.begin, record.end); ++steps;
        }
      }
    }
    EXPECT_EQ(epochs.size(), calls.size());
    for (size_t call = 0; call < calls.size(); ++call)
      EXPECT_TRUE(
          epochs.contains(trace::first_epoch_of_lane(call % Lanes::count) + call / Lanes::count));
    const size_t rings = tracer->rings().size();
    for (int lane = 0; lane < Lanes::count; ++lane) tracer->lend();
    EXPECT_EQ(tracer->rings().size(), rings);
  }
}

// An operation that lacks a rank leaves those of other lanes alone.
TEST(Lanes, ALateRankDelaysItsOwnOperationAlone) {
  const std::vector<int32_t> nodes{0, 1};
  LanesOfRanks lanes(nodes, {}, 64 * 1024, {});
  std::atomic<bool> first_is_over{false};
  with_nodes(nodes, {}, [&](Group& group) {
    Lanes& own = lanes.of(group.rank());
    uint64_t one = 1, sum = 0, data = group.rank() == 0 ? 7 : 0;
    const exec::Combine combine = sum_of_integers();
    // To a root that waits for the other rank, and from a root that waits for none.
    const auto reduced = own.issue({Collective::reduce, &one, &sum, 1, 0, &combine});
    const auto sent = own.issue({Collective::bcast, &data, &data, 8, 0, nullptr});
    while (!sent.operation->is_over()) sent.lane->drive();
    EXPECT_EQ(data, 7u);
    if (group.rank() == 1) {
      while (!first_is_over) std::this_thread::yield();
    }
    if (group.rank() == 0) {
      EXPECT_FALSE(reduced.operation->is_over());
      EXPECT_EQ(reduced.lane->drive(), Lane::Turn::moved) << "its receive is posted";
      EXPECT_EQ(reduced.lane->drive(), Lane::Turn::waits);
      first_is_over = true;
    }
    while (!reduced.operation->is_over()) reduced.lane->drive();
    if (group.rank() == 0) {
      EXPECT_EQ(sum, 2u);
    }
  });
}

TEST(Lanes, CallsOfDifferentLengthsFail) {
  const std::vector<int32_t> nodes{0, 1};
  LanesOfRanks lanes(nodes, {}, 64 * 1024, {});
  with_nodes(nodes, {}, [&](Group& group) {
    std::vector<char> data(1024);
    const size_t bytes = group.rank() == 0 ? 100 : 200;
    const auto made =
        lanes.of(group.rank()).issue({Collective::bcast, data.data(), data.data(), bytes});
    while (!made.operation->is_over()) made.lane->drive();
    EXPECT_EQ(made.operation->code, group.rank() == 0 ? Code::ok : Code::unavailable);
    EXPECT_EQ(made.operation->failure.empty(), group.rank() == 0);
  });
}

// Ranks of one node notice it by each other's lines and words.
TEST(Lanes, DifferentCallsFail) {
  const std::vector<int32_t> nodes{0, 0, 1};
  for (const size_t count : {1, 4000}) {
    LanesOfRanks lanes(nodes, asking_for(Collective::allreduce, "flat"), 64 * 1024, {});
    std::atomic<int> failed{0}, ended{0};
    with_nodes(nodes, {}, [&](Group& group) {
      const exec::Combine combine = sum_of_integers();
      Vector in(count + 1), out(count + 1);
      const size_t own = group.rank() == 1 ? count + 1 : count;
      const auto made =
          lanes.of(group.rank())
              .issue({Collective::allreduce, in.data(), out.data(), own, 0, &combine});
      while (!made.operation->is_over() && failed == 0) made.lane->drive();
      if (made.operation->is_over() && made.operation->code == Code::mismatch) ++failed;
      ++ended;
      while (ended < 3) std::this_thread::yield();
    });
    EXPECT_GE(failed, 1) << count;
  }
}

TEST(Lanes, AfterAFailureLaterOperationsOfTheLaneFail) {
  const std::vector<int32_t> nodes{0, 1};
  LanesOfRanks lanes(nodes, {}, 64 * 1024, {}, 1);
  with_nodes(nodes, {}, [&](Group& group) {
    if (group.rank() == 0) return;  // its messages are sent by the other test rank below
    std::vector<char> data(64);
    Lanes& own = lanes.of(1);
    const auto first = own.issue({Collective::bcast, data.data(), data.data(), 64, 0});
    first.lane->drive();
    EXPECT_EQ(first.lane->drive(), Lane::Turn::waits);
    std::vector<char> other(32);
    const auto sent = lanes.of(0).issue({Collective::bcast, other.data(), other.data(), 32, 0});
    sent.lane->drive();
    while (!first.operation->is_over()) first.lane->drive();
    EXPECT_NE(first.operation->code, Code::ok);
    const auto second = own.issue({Collective::barrier});
    while (!second.operation->is_over()) second.lane->drive();
    EXPECT_EQ(second.operation->code, first.operation->code);
  });
}

}  // namespace
}  // namespace tutti::group::test
