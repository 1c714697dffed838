#include "records/operation.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/sanitized.h"
#include "records/test_programs.h"
#include "records/test_ranks.h"
#include "kernels/kernels.h"

namespace tutti::records {
namespace {

using plan::Collective;
using plan::Definition;

// One collective as all ranks call it, with the expected results. Elements are 64-bit integers,
// which are added.
class Case {
 public:
  struct Rank {
    std::vector<int64_t> in, out, expected;
    std::vector<ptrdiff_t> in_at, out_at;
    std::vector<size_t> in_bytes, out_bytes;
    exec::VParts parts;
    Operation operation;
  };

  Case(Collective collective, int ranks, int root, std::mt19937& random, bool v_form, bool in_place)
      : definition_{collective, ranks, root, plan::parted(collective) ? ranks : 1},
        ranks_(static_cast<size_t>(ranks)) {
    combine_.kernel = kernels::find_reduce(kernels::Type::int64, kernels::Op::sum);
    combine_.element = 8;
    // Element counts by item: all ranks agree on the length of what goes from one to another.
    const bool in_tiles = collective == Collective::allreduce && random() % 4 == 0;
    size_t usual = random() % 4 == 0 ? random() % 3000 : random() % 9;
    if (in_tiles) usual = 8000 + random() % 9000;
    const unsigned seed = static_cast<unsigned>(random());
    const size_t unit = v_form && random() % 4 == 0 ? 500 : 1;
    const auto count_of = [&](int64_t item) {
      return v_form ? unit * ((static_cast<uint64_t>(item) * 7919 + seed) % 13) : usual;
    };
    for (int rank = 0; rank < ranks; ++rank) {
      Rank& one = ranks_[static_cast<size_t>(rank)];
      const auto lay = [&](std::vector<int64_t>& data, std::vector<ptrdiff_t>& at,
                           std::vector<size_t>& bytes, int32_t blocks, auto item_of) {
        size_t total = 0;
        for (int32_t block = 0; block < blocks; ++block) {
          const size_t count = count_of(item_of(block));
          if (v_form) total += 1;  // a gap
          at.push_back(static_cast<ptrdiff_t>(8 * total));
          bytes.push_back(8 * count);
          total += count;
        }
        data.assign(total + 1, -1);
      };
      lay(one.in, one.in_at, one.in_bytes, definition_.in_blocks(),
          [&](int32_t block) { return definition_.item_in(rank, block); });
      lay(one.out, one.out_at, one.out_bytes, definition_.out_blocks(),
          [&](int32_t block) { return definition_.item_out(rank, block); });
      for (size_t i = 0; i < one.in.size(); ++i)
        one.in[i] = static_cast<int64_t>(random() % 100000);
    }
    for (int rank = 0; rank < ranks; ++rank) expect(rank, v_form, usual, in_place);
  }

  Rank& operator[](int rank) { return ranks_[static_cast<size_t>(rank)]; }
  const Definition& definition() const { return definition_; }

 private:
  void expect(int rank, bool v_form, size_t usual, bool in_place) {
    Rank& one = ranks_[static_cast<size_t>(rank)];
    one.expected = one.out;
    const bool gets = definition_.has_out(rank) && plan::has_data(definition_.collective) &&
                      !(plan::one_buffer(definition_.collective) && rank == definition_.root);
    for (int32_t block = 0; gets && block < definition_.out_blocks(); ++block) {
      const plan::RankRange from = definition_.sources(rank, block);
      const auto at = static_cast<size_t>(one.out_at[static_cast<size_t>(block)]) / 8;
      const size_t count = one.out_bytes[static_cast<size_t>(block)] / 8;
      for (size_t i = 0; i < count && from.low < from.high; ++i) {
        int64_t sum = 0;
        for (int32_t source = from.low; source < from.high; ++source) {
          const Rank& other = ranks_[static_cast<size_t>(source)];
          for (int32_t theirs = 0; theirs < definition_.in_blocks(); ++theirs)
            if (definition_.item_in(source, theirs) == definition_.item_out(rank, block))
              sum +=
                  other.in[static_cast<size_t>(other.in_at[static_cast<size_t>(theirs)]) / 8 + i];
        }
        one.expected[at + i] = sum;
      }
    }
    Operation& operation = one.operation;
    operation.program = &programs_for(definition_.collective, definition_.ranks,
                                      definition_.root)[static_cast<size_t>(rank)];
    operation.in = reinterpret_cast<const std::byte*>(one.in.data());
    operation.out = reinterpret_cast<std::byte*>(one.out.data());
    operation.bytes = operation.in_bytes = plan::has_data(definition_.collective) ? 8 * usual : 0;
    operation.combine = &combine_;
    one.parts = {{one.in_at.data(), one.in_bytes.data()},
                 {one.out_at.data(), one.out_bytes.data()}};
    if (v_form) operation.parts = &one.parts;
    if (in_place && gets && one.in.size() == one.out.size()) {
      operation.out = reinterpret_cast<std::byte*>(one.in.data());
      operation.in_place = true;
      in_place_ = true;
    }
  }

 public:
  void check(int rank) {
    Rank& one = ranks_[static_cast<size_t>(rank)];
    const std::vector<int64_t>& result = one.operation.in_place ? one.in : one.out;
    const bool gets = definition_.has_out(rank) && plan::has_data(definition_.collective) &&
                      !(plan::one_buffer(definition_.collective) && rank == definition_.root);
    for (int32_t block = 0; gets && block < definition_.out_blocks(); ++block) {
      const auto at = static_cast<size_t>(one.out_at[static_cast<size_t>(block)]) / 8;
      const plan::RankRange from = definition_.sources(rank, block);
      for (size_t i = 0; i < one.out_bytes[static_cast<size_t>(block)] / 8 && from.low < from.high;
           ++i)
        ASSERT_EQ(result[at + i], one.expected[at + i])
            << plan::name(definition_.collective) << " of " << definition_.ranks << " ranks, root "
            << definition_.root << ", rank " << rank << ", block " << block << ", element " << i;
    }
    if (one.operation.in_place) return;
    ASSERT_EQ(one.out.size(), one.expected.size());
    for (size_t i = 0; i < one.out.size(); ++i)
      ASSERT_EQ(one.out[i], one.expected[i]) << "it wrote between the parts, or missed one";
  }

  // The program has its buffer back and overwrites it.
  void overwrite(int rank) {
    Rank& one = ranks_[static_cast<size_t>(rank)];
    if (!one.operation.in_place) std::fill(one.in.begin(), one.in.end(), -7);
  }

 private:
  Definition definition_;
  std::vector<Rank> ranks_;
  exec::Combine combine_;
  bool in_place_ = false;
};

std::vector<std::unique_ptr<Case>> random_cases(int ranks, unsigned seed, int count) {
  std::mt19937 random(seed);
  std::vector<std::unique_ptr<Case>> cases;
  for (int i = 0; i < count; ++i) {
    const auto collective = static_cast<Collective>(random() % plan::collective_count);
    const int root =
        plan::rooted(collective) ? static_cast<int>(random() % static_cast<unsigned>(ranks)) : 0;
    const bool v_form = plan::parted(collective) && random() % 2 == 0;
    cases.push_back(std::make_unique<Case>(collective, ranks, root, random, v_form,
                                           !v_form && random() % 4 == 0));
  }
  return cases;
}

// One thread plays all ranks: a start that waited would hang. In every other run ranks lend
// buffers, and overwrite them as soon as they have them back.
TEST(Operation, AllCollectivesInRandomInterleavings) {
  size_t lent = 0, copied = 0, returned = 0;
  // One thread plays all ranks, so there are no races to look for.
  const unsigned seeds = looks_for_races ? 4 : 24;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    const int size = 2 + static_cast<int>(seed / 2 % 6);
    TestRanks ranks({.ranks = size, .lends = seed % 2 == 1});
    auto cases = random_cases(size, seed, 150);
    std::mt19937 random(seed);
    exec::SlotStores stores(exec::SlotStores::Policy::plain);
    std::vector<std::byte> scratch;
    YieldingWaits waits;
    std::vector<size_t> next(static_cast<size_t>(size), 0);
    std::vector<std::vector<size_t>> open(static_cast<size_t>(size)), taken(open);
    const auto try_to_get_back = [&](int rank, Operation& operation) {
      ++lent;
      if (is_returned(ranks[rank], operation)) {
        ++returned;
        return true;
      }
      if (random() % 4 != 0) return false;
      ++copied;
      withdraw(ranks[rank], operation);
      EXPECT_TRUE(is_returned(ranks[rank], operation)) << "nobody reads it at this moment";
      return true;
    };
    for (size_t left = cases.size() * static_cast<size_t>(size); left > 0;) {
      const int rank = static_cast<int>(random() % static_cast<unsigned>(size));
      const auto at = static_cast<size_t>(rank);
      if (next[at] < cases.size() && random() % 2 == 0) {
        Operation& operation = (*cases[next[at]])[rank].operation;
        ASSERT_EQ(start(ranks[rank], operation, stores), 0);
        ASSERT_EQ(operation.number, next[at]);
        open[at].push_back(next[at]++);
        continue;
      }
      if (!taken[at].empty() && random() % 2 == 0) {
        const size_t which = random() % taken[at].size();
        Case& one = *cases[taken[at][which]];
        if (!try_to_get_back(rank, one[rank].operation)) continue;
        one.overwrite(rank);
        end(ranks[rank], one[rank].operation);
        taken[at].erase(taken[at].begin() + static_cast<ptrdiff_t>(which));
        --left;
        continue;
      }
      if (open[at].empty()) continue;
      const size_t which = random() % open[at].size();
      Case& one = *cases[open[at][which]];
      int late = -1;
      if (!is_ready(ranks[rank], one[rank].operation, &late)) {
        ASSERT_LE(next[static_cast<size_t>(late)], open[at][which]) << "that rank has started";
        continue;
      }
      const Outcome outcome = take(ranks[rank], one[rank].operation, scratch, waits);
      ASSERT_EQ(outcome.code, Code::ok) << outcome.failure;
      one.check(rank);
      if (one[rank].operation.lent) {
        taken[at].push_back(open[at][which]);
      } else {
        end(ranks[rank], one[rank].operation);
        --left;
      }
      open[at].erase(open[at].begin() + static_cast<ptrdiff_t>(which));
    }
    for (int rank = 0; rank < size; ++rank) EXPECT_TRUE(ranks[rank].may_end());
    EXPECT_EQ(lent > 0, seed > 0) << "ranks lend from the second run on";
  }
  EXPECT_GT(copied, 10u);
  EXPECT_GT(returned, 10u);
}

TEST(Operation, AllCollectivesByThreads) {
  for (const int size : {2, 3, 8, 16}) {
    TestRanks ranks({.ranks = size, .one_arena = true, .lends = size != 3});
    auto cases = random_cases(size, static_cast<unsigned>(size),
                              looks_for_races || looks_at_memory ? 40 : 120);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        std::mt19937 random(static_cast<unsigned>(rank));
        exec::SlotStores stores(exec::SlotStores::Policy::plain);
        std::vector<std::byte> scratch;
        YieldingWaits waits;
        std::vector<size_t> open;
        for (size_t next = 0; next < cases.size() || !open.empty();) {
          if (next < cases.size() && open.size() < 1 + random() % 20) {
            start(ranks[rank], (*cases[next])[rank].operation, stores);
            open.push_back(next++);
            continue;
          }
          const size_t which = random() % open.size();
          Operation& operation = (*cases[open[which]])[rank].operation;
          int late = -1;
          while (!is_ready(ranks[rank], operation, &late)) std::this_thread::yield();
          const Outcome outcome = take(ranks[rank], operation, scratch, waits);
          EXPECT_EQ(outcome.code, Code::ok) << outcome.failure;
          cases[open[which]]->check(rank);
          get_back(ranks[rank], operation, static_cast<unsigned>(random() % 20));
          if (operation.lent) cases[open[which]]->overwrite(rank);
          end(ranks[rank], operation);
          open.erase(open.begin() + static_cast<ptrdiff_t>(which));
        }
      });
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(Operation, RanksThatDisagreeGetAnError) {
  TestRanks ranks({.ranks = 2});
  exec::SlotStores stores(exec::SlotStores::Policy::plain);
  std::vector<std::byte> scratch;
  YieldingWaits waits;
  int64_t data[4] = {1, 2, 3, 4};
  Operation shorter, longer;
  shorter.program = &programs_for(Collective::bcast, 2, 0)[0];
  longer.program = &programs_for(Collective::bcast, 2, 0)[1];
  shorter.in = reinterpret_cast<const std::byte*>(data);
  longer.out = reinterpret_cast<std::byte*>(data);
  shorter.in_bytes = 8;
  longer.bytes = 16;
  start(ranks[0], shorter, stores);
  start(ranks[1], longer, stores);
  int late = -1;
  ASSERT_TRUE(is_ready(ranks[1], longer, &late));
  const Outcome outcome = take(ranks[1], longer, scratch, waits);
  EXPECT_EQ(outcome.code, Code::mismatch);
  EXPECT_NE(outcome.failure.find("rank 0 started bcast of 8 bytes, root 0 where rank 1 expects "
                                 "bcast of 16 bytes"),
            std::string::npos)
      << outcome.failure;
}

// A rank that is not the root in its own eyes gives no bytes, which are not what differs.
TEST(Operation, RanksThatDisagreeAboutTheRootAreToldTheRoots) {
  TestRanks ranks({.ranks = 2});
  exec::SlotStores stores(exec::SlotStores::Policy::plain);
  std::vector<std::byte> scratch;
  YieldingWaits waits;
  int64_t data[2] = {};
  Operation of_root_1, of_root_0;
  of_root_1.program = &programs_for(Collective::bcast, 2, 1)[0];
  of_root_0.program = &programs_for(Collective::bcast, 2, 0)[1];
  of_root_1.out = reinterpret_cast<std::byte*>(data);
  of_root_0.out = reinterpret_cast<std::byte*>(data + 1);
  of_root_1.bytes = of_root_0.bytes = 8;
  start(ranks[0], of_root_1, stores);
  start(ranks[1], of_root_0, stores);
  const Outcome outcome = take(ranks[1], of_root_0, scratch, waits);
  EXPECT_EQ(outcome.code, Code::mismatch);
  EXPECT_NE(outcome.failure.find("rank 0 started bcast, root 1 where rank 1 expects bcast, root 0"),
            std::string::npos)
      << outcome.failure;
}

// An allreduce of a vector that has a few tiles.
struct LongReduction {
  static constexpr size_t elements = 50001;

  explicit LongReduction(int ranks)
      : in(static_cast<size_t>(ranks)), out(in), operations(in.size()) {
    combine.kernel = kernels::find_reduce(kernels::Type::int64, kernels::Op::sum);
    combine.element = 8;
    for (size_t at = 0; at < in.size(); ++at) {
      operations[at].program = &programs_for(Collective::allreduce, ranks, 0)[at];
      operations[at].bytes = operations[at].in_bytes = 8 * elements;
      operations[at].combine = &combine;
    }
  }
  // Other values in each round, so that a result of the round before is wrong.
  void fill(int rank, int64_t round) {
    const auto at = static_cast<size_t>(rank);
    in[at].resize(elements);
    out[at].assign(elements, -1);
    for (size_t i = 0; i < elements; ++i)
      in[at][i] = (rank + 1) * (static_cast<int64_t>(i) + round);
    operations[at].in = reinterpret_cast<const std::byte*>(in[at].data());
    operations[at].out = reinterpret_cast<std::byte*>(out[at].data());
  }
  // The first element that is wrong; -1 if none is.
  int64_t first_wrong(int rank, int64_t round) const {
    const auto ranks = static_cast<int64_t>(in.size());
    for (size_t i = 0; i < elements; ++i)
      if (out[static_cast<size_t>(rank)][i] !=
          ranks * (ranks + 1) / 2 * (static_cast<int64_t>(i) + round))
        return static_cast<int64_t>(i);
    return -1;
  }

  exec::Combine combine;
  std::vector<std::vector<int64_t>> in, out;
  std::vector<Operation> operations;
};

// The rank that comes first does all the work; the others need the vectors no more.
TEST(Operation, ALongReductionIsDoneOnce) {
  constexpr int size = 3;
  TestRanks ranks({.ranks = size});
  exec::SlotStores stores(exec::SlotStores::Policy::plain);
  std::vector<std::byte> scratch;
  YieldingWaits waits;
  LongReduction reduction(size);
  for (int rank = 0; rank < size; ++rank) {
    reduction.fill(rank, 1);
    start(ranks[rank], reduction.operations[static_cast<size_t>(rank)], stores);
  }
  for (const int rank : {1, 0, 2}) {
    Operation& operation = reduction.operations[static_cast<size_t>(rank)];
    ASSERT_EQ(take(ranks[rank], operation, scratch, waits).code, Code::ok);
    EXPECT_EQ(reduction.first_wrong(rank, 1), -1) << "rank " << rank;
    end(ranks[rank], operation);
    const std::byte* const theirs = ranks[0].record(2, operation.number).data;
    std::memset(const_cast<std::byte*>(theirs), 0x5A, operation.bytes);
  }
}

TEST(Operation, ThreadsShareALongReduction) {
  constexpr int size = 4, rounds = 60;
  for (const bool lends : {false, true}) {
    TestRanks ranks({.ranks = size, .one_arena = true, .lends = lends});
    LongReduction reduction(size);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        exec::SlotStores stores(exec::SlotStores::Policy::plain);
        std::vector<std::byte> scratch;
        YieldingWaits waits;
        Operation& operation = reduction.operations[static_cast<size_t>(rank)];
        for (int64_t round = 0; round < rounds; ++round) {
          reduction.fill(rank, round);
          start(ranks[rank], operation, stores);
          int late = -1;
          while (!is_ready(ranks[rank], operation, &late)) std::this_thread::yield();
          EXPECT_EQ(take(ranks[rank], operation, scratch, waits).code, Code::ok);
          EXPECT_EQ(reduction.first_wrong(rank, round), -1) << "rank " << rank;
          while (operation.lent && !is_returned(ranks[rank], operation)) std::this_thread::yield();
          end(ranks[rank], operation);
        }
      });
    for (std::thread& thread : threads) thread.join();
  }
}

// A rank that gives longer blocks than it gets: it and the others get an error, and nobody waits.
TEST(Operation, SidesThatDifferAreAnError) {
  constexpr int size = 3;
  TestRanks ranks({.ranks = size});
  exec::SlotStores stores(exec::SlotStores::Policy::plain);
  std::vector<std::byte> scratch;
  YieldingWaits waits;
  int64_t in[2 * size] = {}, out[size] = {};
  std::vector<Operation> operations(size);
  for (int rank = 0; rank < size; ++rank) {
    Operation& operation = operations[static_cast<size_t>(rank)];
    operation.program = &programs_for(Collective::alltoall, size, 0)[static_cast<size_t>(rank)];
    operation.in = reinterpret_cast<const std::byte*>(in);
    operation.out = reinterpret_cast<std::byte*>(out);
    operation.bytes = 8;
    operation.in_bytes = rank == 1 ? 16 : 8;
    start(ranks[rank], operation, stores);
  }
  for (int rank = 0; rank < size; ++rank) {
    int late = -1;
    ASSERT_TRUE(is_ready(ranks[rank], operations[static_cast<size_t>(rank)], &late));
    EXPECT_EQ(take(ranks[rank], operations[static_cast<size_t>(rank)], scratch, waits).code,
              Code::mismatch);
    end(ranks[rank], operations[static_cast<size_t>(rank)]);
  }
  for (int rank = 0; rank < size; ++rank) EXPECT_TRUE(ranks[rank].may_end());
}

// Every second element of a buffer, as a vector datatype has it.
struct EverySecond : Packing {
  std::vector<int64_t>* in;
  std::vector<int64_t>* out;
  int pack(int32_t block, std::byte* to, size_t bytes) override {
    for (size_t i = 0; i < bytes / 8; ++i)
      std::memcpy(to + 8 * i, &(*in)[2 * (static_cast<size_t>(block) * (bytes / 8) + i)], 8);
    return 0;
  }
  int unpack(const std::byte* from, int32_t block, size_t bytes) override {
    for (size_t i = 0; i < bytes / 8; ++i)
      std::memcpy(&(*out)[2 * (static_cast<size_t>(block) * (bytes / 8) + i)], from + 8 * i, 8);
    return 0;
  }
};

TEST(Operation, PacksAndUnpacksBuffersWithGaps) {
  constexpr int size = 3, count = 50;
  TestRanks ranks({.ranks = size});
  exec::SlotStores stores(exec::SlotStores::Policy::plain);
  std::vector<std::byte> scratch;
  YieldingWaits waits;
  exec::Combine combine;
  combine.kernel = kernels::find_reduce(kernels::Type::int64, kernels::Op::sum);
  combine.element = 8;
  std::vector<std::vector<int64_t>> in(size), out(size, std::vector<int64_t>(2 * count, -1));
  std::vector<EverySecond> packing(size);
  std::vector<Operation> operations(size);
  for (int rank = 0; rank < size; ++rank) {
    const auto at = static_cast<size_t>(rank);
    for (int i = 0; i < 2 * count; ++i) in[at].push_back(1000 * rank + i);
    packing[at].in = &in[at];
    packing[at].out = &out[at];
    operations[at].program = &programs_for(Collective::allreduce, size, 0)[at];
    operations[at].bytes = operations[at].in_bytes = 8 * count;
    operations[at].combine = &combine;
    operations[at].packs_in = operations[at].packs_out = &packing[at];
    start(ranks[rank], operations[at], stores);
  }
  for (int rank = 0; rank < size; ++rank) {
    EXPECT_EQ(take(ranks[rank], operations[static_cast<size_t>(rank)], scratch, waits).code,
              Code::ok);
    for (int i = 0; i < 2 * count; ++i)
      ASSERT_EQ(out[static_cast<size_t>(rank)][static_cast<size_t>(i)],
                i % 2 == 0 ? 3000 + 3 * i : -1);
  }
}

}  // namespace
}  // namespace tutti::records
