// Operations on several communicators at once, started by the threads of each rank and completed
// in random order by any of them, as MPI_THREAD_MULTIPLE allows.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/sanitized.h"
#include "records/operation.h"
#include "records/test_programs.h"
#include "records/test_ranks.h"
#include "kernels/kernels.h"

namespace tutti::records {
namespace {

using plan::Collective;
using plan::Definition;

constexpr int ranks = 16, threads_of_rank = 4, communicators = 10, operations = 10;

// Returns a value that a rank gives for an item: all ranks can compute it.
int64_t value_of(int rank, int64_t item, size_t i, unsigned seed) {
  return (rank + 1) * 100003 + item * 1009 + static_cast<int64_t>(i) * 7 + seed % 1000;
}

// One rank's part in a collective.
struct Part {
  std::vector<int64_t> in, out;
  Operation operation;
};

// A collective that all ranks of a communicator make. Constant once made, apart from what take()
// writes into `out`.
class Case {
 public:
  Case(Collective collective, int root, size_t count, unsigned seed)
      : definition_{collective, ranks, root, plan::parted(collective) ? ranks : 1},
        count_(plan::has_data(collective) ? count : 0),
        seed_(seed),
        parts_(ranks) {
    combine_.kernel = kernels::find_reduce(kernels::Type::int64, kernels::Op::sum);
    combine_.element = 8;
    for (int rank = 0; rank < ranks; ++rank) {
      Part& part = (*this)[rank];
      for (int32_t block = 0; block < definition_.in_blocks(); ++block)
        for (size_t i = 0; i < count_; ++i)
          part.in.push_back(value_of(rank, definition_.item_in(rank, block), i, seed));
      part.out.assign(count_ * static_cast<size_t>(definition_.out_blocks()) + 1, -1);
      part.operation.program = &programs_for(collective, ranks, root)[static_cast<size_t>(rank)];
      part.operation.in = reinterpret_cast<const std::byte*>(part.in.data());
      part.operation.out = reinterpret_cast<std::byte*>(part.out.data());
      part.operation.bytes = part.operation.in_bytes = 8 * count_;
      part.operation.combine = &combine_;
    }
  }

  Part& operator[](int rank) { return parts_[static_cast<size_t>(rank)]; }

  // Says what is wrong with a rank's results, or nothing.
  std::string wrong(int rank) const {
    const std::vector<int64_t>& out = parts_[static_cast<size_t>(rank)].out;
    const bool gets = definition_.has_out(rank) &&
                      !(plan::one_buffer(definition_.collective) && rank == definition_.root);
    for (int32_t block = 0; block < definition_.out_blocks(); ++block) {
      const plan::RankRange from = definition_.sources(rank, block);
      for (size_t i = 0; i < count_; ++i) {
        int64_t expected = gets && from.low < from.high ? 0 : -1;
        for (int32_t source = from.low; gets && source < from.high; ++source)
          expected += value_of(source, definition_.item_out(rank, block), i, seed_);
        const int64_t found = out[static_cast<size_t>(block) * count_ + i];
        if (found != expected)
          return std::string(plan::name(definition_.collective)) + ", rank " +
                 std::to_string(rank) + ", block " + std::to_string(block) + ", element " +
                 std::to_string(i) + ": " + std::to_string(found) + ", not " +
                 std::to_string(expected);
      }
    }
    return out.back() == -1 ? "" : "it wrote beyond its result";
  }

 private:
  Definition definition_;
  size_t count_;
  unsigned seed_;
  std::vector<Part> parts_;
  exec::Combine combine_;
};

struct Communicator {
  Communicator(std::mt19937& random, bool lends)
      : sequences({.ranks = ranks, .one_arena = true, .concurrent = true, .lends = lends}) {
    for (int i = 0; i < operations; ++i) {
      const auto collective = static_cast<Collective>(random() % plan::collective_count);
      const int root = plan::rooted(collective) ? static_cast<int>(random() % ranks) : 0;
      size_t count = random() % 4 == 0 ? 100 + random() % 200 : random() % 7;
      if (random() % 64 == 0) count = 2500;  // long enough to be lent, or to be read by pieces
      cases.push_back(std::make_unique<Case>(collective, root, count, random()));
    }
  }
  TestRanks sequences;
  std::vector<std::unique_ptr<Case>> cases;
};

// One rank: what its threads share.
class Rank {
 public:
  // With `all_first` nothing is completed before all operations are under way.
  Rank(int rank, bool all_first, std::vector<std::unique_ptr<Communicator>>& all)
      : rank_(rank), all_first_(all_first), all_(all), starting_(communicators) {}

  // Plays the part of one thread.
  void play(unsigned seed) {
    std::mt19937 random(seed);
    exec::SlotStores stores(exec::SlotStores::Policy::plain);
    std::vector<std::byte> scratch;
    while (completed_ < communicators * operations) {
      const bool moved = random() % 2 == 0 ? start_one(random() % communicators, stores)
                                           : try_one(random(), scratch);
      if (!moved) std::this_thread::yield();
    }
  }

 private:
  struct Open {
    Communicator* communicator;
    Case* one;
  };

  // Starts the next operation of a communicator: all ranks start them in one order.
  bool start_one(size_t which, exec::SlotStores& stores) {
    Communicator& communicator = *all_[which];
    Starting& starting = starting_[which];
    std::unique_lock lock(starting.mutex);
    if (starting.next == operations) return false;
    Case& one = *communicator.cases[starting.next++];
    EXPECT_EQ(start(communicator.sequences[rank_], one[rank_].operation, stores), 0);
    lock.unlock();
    const std::lock_guard guard(mutex_);
    open_.push_back({&communicator, &one});
    ++started_;
    return true;
  }

  // Completes one of the operations that are under way, whoever started it, if it is ready.
  bool try_one(unsigned number, std::vector<std::byte>& scratch) {
    std::unique_lock lock(mutex_);
    if (open_.empty() || (all_first_ && started_ < communicators * operations)) return false;
    const size_t at = number % open_.size();
    const Open chosen = open_[at];
    open_[at] = open_.back();
    open_.pop_back();
    lock.unlock();
    Sequence& sequence = chosen.communicator->sequences[rank_];
    Operation& operation = (*chosen.one)[rank_].operation;
    int late = -1;
    if (!is_ready(sequence, operation, &late)) {
      lock.lock();
      open_.push_back(chosen);
      return false;
    }
    YieldingWaits waits;
    const Outcome outcome = take(sequence, operation, scratch, waits);
    EXPECT_EQ(outcome.code, Code::ok) << outcome.failure;
    EXPECT_EQ(chosen.one->wrong(rank_), "");
    get_back(sequence, operation, number % 20);
    end(sequence, operation);
    ++completed_;
    return true;
  }

  struct Starting {
    std::mutex mutex;
    size_t next = 0;
  };

  const int rank_;
  const bool all_first_;
  std::vector<std::unique_ptr<Communicator>>& all_;
  std::vector<Starting> starting_;
  std::atomic<int> completed_{0};
  std::mutex mutex_;  // guards what follows
  std::vector<Open> open_;
  int started_ = 0;
};

TEST(Threads, CompleteEachOthersOperationsOnSeveralCommunicators) {
  const unsigned rounds = looks_for_races || looks_at_memory ? 2 : 6;
  for (unsigned seed = 0; seed < rounds; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::unique_ptr<Communicator>> all;
    for (int i = 0; i < communicators; ++i)
      all.push_back(std::make_unique<Communicator>(random, seed % 2 == 0));
    std::vector<std::unique_ptr<Rank>> players;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
      players.push_back(std::make_unique<Rank>(rank, seed % 2 == 1, all));
    for (int rank = 0; rank < ranks; ++rank)
      for (int i = 0; i < threads_of_rank; ++i)
        threads.emplace_back(
            [&, number = random(), rank] { players[static_cast<size_t>(rank)]->play(number); });
    for (std::thread& thread : threads) thread.join();
    for (const auto& communicator : all)
      for (int rank = 0; rank < ranks; ++rank)
        EXPECT_TRUE(communicator->sequences[rank].may_end()) << "rank " << rank;
  }
}

}  // namespace
}  // namespace tutti::records
