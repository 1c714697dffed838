#include "rma/process_mover.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>
#include <cstring>
#include <numeric>
#include <vector>

namespace tutti::rma {
namespace {

// Another process, forked from this one, with the same addresses and memory of its own. It lives
// until the object ends, or until end().
class Other {
 public:
  Other() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    process_ = fork();
    if (process_ == 0) {
      close(ends[1]);
      char byte = 0;
      static_cast<void>(!read(ends[0], &byte, 1));  // until this process's end is closed
      _exit(0);
    }
    close(ends[0]);
    end_ = ends[1];
  }
  ~Other() { end(); }
  Other(const Other&) = delete;

  void end() {
    if (end_ < 0) return;
    close(end_);
    end_ = -1;
    waitpid(process_, nullptr, 0);
  }
  Peer peer() const { return {.process = process_}; }
  // The system permits copies between this process and the other one.
  bool can_be_reached() const {
    uint64_t word = 0;
    const iovec side{&word, sizeof word};
    return process_vm_readv(process_, &side, 1, &side, 1, 0) == sizeof word;
  }

 private:
  pid_t process_ = 0;
  int end_ = -1;
};

template <class T>
Transfer transfer(Kind kind, const std::vector<T>& local, const std::vector<T>& remote) {
  return {.local = reinterpret_cast<uint64_t>(local.data()),
          .remote = reinterpret_cast<uint64_t>(remote.data()),
          .block_bytes = local.size() * sizeof(T),
          .kind = kind,
          .target = 1};
}

// Ranks 0 and 1 are this process and another one.
TEST(ProcessMover, MovesBetweenPrivateMemories) {
  std::vector<int> from(100), there(100, -1), got(100);
  std::iota(from.begin(), from.end(), 0);
  const Other other;
  if (!other.can_be_reached()) GTEST_SKIP() << "the system permits no copies between processes";
  const std::vector<Peer> peers = {own_memory, other.peer()};
  ProcessMover mover(peers, {});
  EXPECT_EQ(mover.move(transfer(Kind::get, got, there), 0), Code::ok);
  EXPECT_EQ(got, std::vector<int>(100, -1));
  EXPECT_EQ(mover.move(transfer(Kind::put, from, there), 0), Code::ok);
  EXPECT_EQ(mover.move(transfer(Kind::get, got, there), 0), Code::ok);
  EXPECT_EQ(got, from);
  EXPECT_EQ(there, std::vector<int>(100, -1));  // this process's own

  // Every second number, backwards.
  Transfer blocks = transfer(Kind::get, got, there);
  blocks.blocks = 50, blocks.block_bytes = sizeof(int);
  blocks.local_stride = sizeof(int), blocks.remote_stride = -2 * int64_t{sizeof(int)};
  blocks.remote += 99 * sizeof(int);
  EXPECT_EQ(mover.move(blocks, 0), Code::ok);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(got[static_cast<size_t>(i)], 99 - 2 * i);
  EXPECT_EQ(got[50], 50);
}

// A server does so for a client of one process with a target of another one.
TEST(ProcessMover, MovesBetweenTwoOthers) {
  std::vector<uint8_t> bytes(50'000), got(50'000);
  std::iota(bytes.begin(), bytes.end(), uint8_t{3});
  const Other client, target;
  if (!client.can_be_reached()) GTEST_SKIP() << "the system permits no copies between processes";
  const std::vector<Peer> peers = {client.peer(), target.peer(), own_memory};
  ProcessMover mover(peers, {0, 1, 2});
  const std::vector<uint8_t> empty(50'000);
  Transfer clear = transfer(Kind::put, empty, bytes);
  EXPECT_EQ(mover.move(clear, 2), Code::ok);  // clears the target's memory
  EXPECT_EQ(mover.move(transfer(Kind::put, bytes, bytes), 0), Code::ok);
  EXPECT_EQ(mover.move(transfer(Kind::get, got, bytes), 2), Code::ok);
  EXPECT_EQ(got, bytes);
}

TEST(ProcessMover, MovesThroughMappedMemory) {
  const size_t bytes = 8192;
  void* const shared =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  const uint64_t theirs = uint64_t{1} << 40;  // where the other process has it
  const std::vector<Peer> peers = {
      own_memory,
      {.first = theirs, .bytes = bytes, .shift = reinterpret_cast<uint64_t>(shared) - theirs}};
  ProcessMover mover(peers, {});
  const int value = 7;
  Transfer put{.local = reinterpret_cast<uint64_t>(&value),
               .remote = theirs + bytes - sizeof value,
               .block_bytes = sizeof value,
               .target = 1};
  EXPECT_EQ(mover.move(put, 0), Code::ok);
  int found = 0;
  std::memcpy(&found, static_cast<std::byte*>(shared) + bytes - sizeof value, sizeof value);
  EXPECT_EQ(found, 7);
  ++put.remote;  // one byte beyond the end, and no process is known
  EXPECT_EQ(mover.move(put, 0), Code::unavailable);
  munmap(shared, bytes);
}

// A server moves what a transfer carries, in mapped memory and by the system's copies.
TEST(ProcessMover, MovesWhatTransfersCarry) {
  int64_t mapped = 1, value = 7, got = 0;
  const uint64_t theirs = uint64_t{1} << 40;
  std::vector<Peer> peers = {{.first = theirs,
                              .bytes = sizeof mapped,
                              .shift = reinterpret_cast<uint64_t>(&mapped) - theirs}};
  const Other other;
  if (other.can_be_reached()) peers.push_back(other.peer());
  ProcessMover mover(peers, {});
  for (size_t target = 0; target < peers.size(); ++target) {
    Transfer put{.remote = target == 0 ? theirs : reinterpret_cast<uint64_t>(&mapped),
                 .block_bytes = sizeof value,
                 .target = static_cast<int32_t>(target),
                 .carries = 1};
    EXPECT_TRUE(put.may_carry());
    std::memcpy(put.carried(), &value, sizeof value);
    EXPECT_EQ(mover.move_carried(put), Code::ok);
    Transfer get = put;
    get.kind = Kind::get;
    std::memset(get.carried(), 0, sizeof value);
    EXPECT_EQ(mover.move_carried(get), Code::ok);
    std::memcpy(&got, get.carried(), sizeof got);
    EXPECT_EQ(got, 7);
  }
  EXPECT_EQ(mapped, 7);
  Transfer beyond{.remote = theirs + 1, .block_bytes = sizeof value, .carries = 1};
  EXPECT_EQ(mover.move_carried(beyond), Code::unavailable);
}

TEST(ProcessMover, TellsWhyItCannotMove) {
  std::vector<int> memory(10);
  Other other;
  if (!other.can_be_reached()) GTEST_SKIP() << "the system permits no copies between processes";
  std::vector<Peer> peers = {own_memory, other.peer()};
  ProcessMover mover(peers, {});
  Transfer get = transfer(Kind::get, memory, memory);
  EXPECT_EQ(mover.move(get, 0), Code::ok);
  get.remote = 64;
  EXPECT_EQ(mover.move(get, 0), Code::invalid_argument);
  get.block_bytes = 0;
  EXPECT_EQ(mover.move(get, 0), Code::ok);  // nothing
  other.end();
  EXPECT_EQ(mover.move(transfer(Kind::get, memory, memory), 0), Code::dead_peer);
  forget_others(peers);
  EXPECT_EQ(mover.move(transfer(Kind::get, memory, memory), 0), Code::unavailable);
  Transfer own = transfer(Kind::get, memory, memory);
  own.target = 0;
  EXPECT_EQ(mover.move(own, 0), Code::ok);
}

TEST(ProcessMover, ExtentsOfBlocks) {
  const auto extent = [](int64_t stride, uint32_t blocks) {
    const Extent found = extent_of(1000, stride, {.block_bytes = 8, .blocks = blocks});
    return std::pair(found.first, found.bytes);
  };
  EXPECT_EQ(extent(16, 1), std::pair(uint64_t{1000}, uint64_t{8}));
  EXPECT_EQ(extent(16, 4), std::pair(uint64_t{1000}, uint64_t{56}));
  EXPECT_EQ(extent(-16, 4), std::pair(uint64_t{952}, uint64_t{56}));
  EXPECT_EQ(extent(16, 0), std::pair(uint64_t{1000}, uint64_t{0}));
}

TEST(ProcessMover, PeersEnd) {
  const Peer peer{.first = 4096, .bytes = 100, .shift = 10};
  EXPECT_EQ(peer.here(4096, 100), reinterpret_cast<std::byte*>(4106));
  EXPECT_EQ(peer.here(4095, 1), nullptr);
  EXPECT_EQ(peer.here(4195, 1), reinterpret_cast<std::byte*>(4205));
  EXPECT_EQ(peer.here(4195, 2), nullptr);
  EXPECT_EQ(peer.here(4196, 0), nullptr);
  EXPECT_EQ(peer.here(4100, UINT64_MAX), nullptr);
  EXPECT_EQ(Peer{}.here(0, 0), nullptr);
}

}  // namespace
}  // namespace tutti::rma
