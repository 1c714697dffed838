// Memory runs out within transfers between nodes, on one side: each allocation of that side fails
// in turn, with all that follow. A transfer that has started ends nevertheless.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "rma/answering.h"
#include "rma/asking.h"
#include "rma/test_wires.h"

namespace {

long allocations_left = -1;  // negative: none fails
long failures = 0;

}  // namespace

[[gnu::noinline]] void* operator new(size_t bytes) {
  if (allocations_left == 0) {
    ++failures;
    throw std::bad_alloc();
  }
  if (allocations_left > 0) --allocations_left;
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace tutti::rma {
namespace {

// While it lives, so many allocations go well.
class Limit {
 public:
  explicit Limit(long allocations) : before_(std::exchange(allocations_left, allocations)) {}
  ~Limit() { allocations_left = before_; }
  Limit(const Limit&) = delete;

 private:
  const long before_;
};

// The wire's own memory is the host's.
class Unlimited final : public Wire {
 public:
  Unlimited(TestWires& all, int rank) : end_(all, rank) {}
  size_t most_piece() const override { return end_.most_piece(); }
  int receive(void* to, size_t bytes, int rank, int tag, Message* message) override {
    const Limit none(-1);
    return end_.receive(to, bytes, rank, tag, message);
  }
  int send(const void* from, size_t bytes, int rank, int tag, Message* message) override {
    const Limit none(-1);
    return end_.send(from, bytes, rank, tag, message);
  }
  int test(Message* message, bool* done) override {
    const Limit none(-1);
    return end_.test(message, done);
  }
  int probe(int tag, Found* found) override {
    const Limit none(-1);
    return end_.probe(tag, found);
  }

 private:
  TestWires::End end_;
};

// A side of a wire, with a limit for its allocations from one call to the next.
template <class Side>
struct Limited {
  Side side;
  long left = -1;

  template <class Call>
  auto operator()(Call call) {
    struct Kept {
      long& left;
      Limit limit;
      explicit Kept(long& of) : left(of), limit(of) {}
      ~Kept() { left = allocations_left; }
    } const kept(left);
    return call(side);
  }
};

constexpr size_t most_transfers = 6;

// Some puts and gets of several pieces, and their ends. Returns how many could not be started.
size_t exchange(long allocations, bool of_client) {
  TestWires wires;
  Unlimited ends[2] = {{wires, 0}, {wires, 1}};
  std::vector<uint8_t> there(most_transfers * 4000, 9);
  const Peer memory{.first = reinterpret_cast<uint64_t>(there.data()), .bytes = there.size()};
  Limited<Asking> client{{ends[0], Window(4000, 4000), true}};
  Limited<Answering> target{{ends[1], {memory}}};
  std::vector<std::vector<uint8_t>> here(most_transfers, std::vector<uint8_t>(4000));
  (of_client ? client.left : target.left) = allocations;
  std::vector<bool> started, is_over(most_transfers);
  size_t outstanding = 0;
  for (size_t i = 0; i < most_transfers; ++i) {
    const size_t bytes = i % 3 == 2 ? 8 : 4000 - i;
    std::iota(here[i].begin(), here[i].end(), static_cast<uint8_t>(i));
    const Transfer transfer{.local = reinterpret_cast<uint64_t>(here[i].data()),
                            .remote = memory.first + i * 4000,
                            .block_bytes = bytes,
                            .kind = i % 2 == 0 ? Kind::put : Kind::get};
    try {
      client([&](Asking& asking) { return asking.start(transfer, {.answers = 1}, i); });
      started.push_back(true);
      ++outstanding;
    } catch (const std::bad_alloc&) {
      started.push_back(false);
    }
    EXPECT_EQ(client.side.outstanding(), outstanding);
  }
  for (int round = 0; outstanding > 0 && round < 1000; ++round) {
    target([](Answering& answering) { return answering.drive(); });
    client([&](Asking& asking) {
      asking.drive();
      for (const uint64_t number : asking.list_of_over()) {
        const uint64_t i = asking.label(number);
        if (asking.take(number).code == Code::ok) is_over[i] = true;
        --outstanding;
      }
      asking.list_of_over().clear();
      return true;
    });
  }
  EXPECT_EQ(outstanding, 0u);
  EXPECT_TRUE(client.side.is_idle());
  for (int round = 0; round < 10 && !target.side.is_idle(); ++round) target.side.drive();
  EXPECT_TRUE(target.side.is_idle());
  size_t refused = 0;
  for (size_t i = 0; i < most_transfers; ++i) {
    EXPECT_EQ(is_over[i], started[i]) << "transfer " << i;
    const size_t bytes = i % 3 == 2 ? 8 : 4000 - i;
    for (size_t at = 0; at < 4000; ++at) {
      const bool puts = i % 2 == 0, moved = started[i] && at < bytes;
      EXPECT_EQ(there[i * 4000 + at], puts && moved ? static_cast<uint8_t>(i + at) : 9);
      EXPECT_EQ(here[i][at], !puts && moved ? 9 : static_cast<uint8_t>(i + at));
    }
    refused += started[i] ? 0 : 1;
  }
  return refused;
}

// The memory of messages stays when the wire has failed, and nothing is allocated for it.
TEST(NoMemory, ASideEndsAfterItsWireHasFailed) {
  TestWires wires;
  Unlimited end(wires, 0);
  std::vector<uint8_t> here(4000), there(4000);
  for (int side = 0; side < 2; ++side) {
    std::optional<Asking> asking(std::in_place, end, Window(4000, 4000));
    const uint64_t number = asking->start({.local = reinterpret_cast<uint64_t>(here.data()),
                                           .remote = reinterpret_cast<uint64_t>(there.data()),
                                           .block_bytes = here.size(),
                                           .kind = Kind::put},
                                          {.answers = 1});
    wires.fail();
    const Limit none_left(0);
    asking->drive();
    EXPECT_EQ(asking->take(number).code, Code::dead_peer);
    asking.reset();
    wires.work();
  }
}

TEST(NoMemory, TransfersThatHaveStartedEnd) {
  for (const bool of_client : {true, false}) {
    size_t refused = 0;
    long allocations = 0;
    for (failures = 1; failures > 0; ++allocations) {
      failures = 0;
      refused += exchange(allocations, of_client);
      ASSERT_FALSE(HasFailure()) << "memory for " << allocations << " allocations of the "
                                 << (of_client ? "client" : "target");
    }
    EXPECT_GT(allocations, 10);
    EXPECT_EQ(refused > 0, of_client);
  }
}

}  // namespace
}  // namespace tutti::rma
