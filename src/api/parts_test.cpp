// The collectives with a part for each rank, and the scans, on thread ranks.
#include <algorithm>
#include <ostream>
#include <random>
#include <span>

#include "api/test_values.h"
#include "api/test_ranks.h"

using tutti::test::contribution;
using tutti::test::counts_in_turn;
using tutti::test::spawn;
using tutti::test::sum;
using tutti::test::value;

namespace {

using Bytes = std::vector<uint8_t>;
using Numbers = std::vector<int64_t>;

const uint8_t untouched = 0xEE;
const size_t margin = 16;  // bytes after a buffer that must not be written

struct Call {
  tutti_group* group;
  int rank, ranks, root, operation;

  // Every other rank is in place: each rank decides for itself.
  bool in_place() const { return (rank + operation) % 2 == 0; }
  bool at_root() const { return rank == root; }
  size_t own(size_t part) const { return static_cast<size_t>(rank) * part; }
  size_t all(size_t part) const { return static_cast<size_t>(ranks) * part; }
};

std::ostream& operator<<(std::ostream& out, const Call& call) {
  return out << "rank " << call.rank << " of " << call.ranks << ", root " << call.root
             << ", operation " << call.operation << (call.in_place() ? ", in place: " : ": ")
             << tutti_error_message();
}

// `bytes` bytes of a rank's data from byte `first`.
Bytes data(int operation, int rank, size_t bytes, size_t first = 0) {
  Bytes data(bytes);
  for (size_t i = 0; i < bytes; ++i)
    data[i] = static_cast<uint8_t>(value(operation, rank, first + i) % 251);
  return data;
}

void expect_start(const Call& call, const Bytes& out, const Bytes& expected) {
  ASSERT_TRUE(std::equal(expected.begin(), expected.end(), out.begin())) << call;
  const auto rest = out.begin() + static_cast<ptrdiff_t>(expected.size());
  ASSERT_TRUE(std::all_of(rest, out.end(), [](uint8_t byte) { return byte == untouched; })) << call;
}

void append(Bytes& all, const Bytes& part) { all.insert(all.end(), part.begin(), part.end()); }

void gather(const Call& call, size_t part, bool everywhere) {
  const bool receives = everywhere || call.at_root();
  const Bytes in = data(call.operation, call.rank, part);
  Bytes out(receives ? call.all(part) + margin : 0, untouched);
  const uint8_t* source = in.data();
  if (receives && call.in_place()) {
    std::copy(in.begin(), in.end(), out.begin() + static_cast<ptrdiff_t>(call.own(part)));
    source = out.data() + call.own(part);
  }
  uint8_t* const to = receives ? out.data() : nullptr;
  ASSERT_EQ(everywhere ? tutti_allgather(call.group, source, to, part)
                       : tutti_gather(call.group, source, to, part, call.root),
            TUTTI_OK)
      << call;
  Bytes expected;
  for (int rank = 0; receives && rank < call.ranks; ++rank)
    append(expected, data(call.operation, rank, part));
  expect_start(call, out, expected);
}

void scatter(const Call& call, size_t part) {
  const Bytes sent = call.at_root() ? data(call.operation, call.rank, call.all(part)) : Bytes();
  Bytes in = sent;
  Bytes out(part + margin, untouched);
  const bool in_place = call.at_root() && call.in_place();
  // An ignored argument may have any value: null, or the other buffer, which is too short for all
  // ranks' parts.
  const uint8_t* source = call.operation % 2 == 0 ? nullptr : out.data();
  if (call.at_root()) source = in.data();
  ASSERT_EQ(tutti_scatter(call.group, source, in_place ? in.data() + call.own(part) : out.data(),
                          part, call.root),
            TUTTI_OK)
      << call;
  ASSERT_TRUE(in == sent) << call;
  expect_start(call, out,
               in_place ? Bytes() : data(call.operation, call.root, part, call.own(part)));
}

void alltoall(const Call& call, size_t part) {
  Bytes in = data(call.operation, call.rank, call.all(part));
  Bytes separate(in.size() + margin, untouched);
  append(in, Bytes(margin, untouched));
  Bytes& out = call.in_place() ? in : separate;
  ASSERT_EQ(tutti_alltoall(call.group, in.data(), out.data(), part), TUTTI_OK) << call;
  Bytes expected;
  for (int rank = 0; rank < call.ranks; ++rank)
    append(expected, data(call.operation, rank, part, call.own(part)));
  expect_start(call, out, expected);
}

void reduce_scatter(const Call& call, size_t count) {
  Numbers in = contribution(call.operation, call.rank, call.all(count));
  Numbers separate(count);
  Numbers& out = call.in_place() ? in : separate;
  ASSERT_EQ(tutti_reduce_scatter(call.group, in.data(), out.data(), count, TUTTI_INT64, TUTTI_SUM),
            TUTTI_OK)
      << call;
  for (size_t i = 0; i < count; ++i)
    ASSERT_EQ(out[i], sum(call.operation, call.ranks, call.own(count) + i)) << call;
}

void scan(const Call& call, size_t count) {
  Numbers in = contribution(call.operation, call.rank, count);
  Numbers separate(count);
  Numbers& out = call.in_place() ? in : separate;
  ASSERT_EQ(tutti_scan(call.group, in.data(), out.data(), count, TUTTI_INT64, TUTTI_SUM), TUTTI_OK)
      << call;
  for (size_t i = 0; i < count; ++i)
    ASSERT_EQ(out[i], sum(call.operation, call.rank + 1, i)) << call;
}

void exscan(const Call& call, size_t count) {
  Numbers in = contribution(call.operation, call.rank, count);
  Numbers separate(count, -1);
  Numbers& out = call.in_place() ? in : separate;
  const Numbers before = out;  // rank 0's `out` must not change
  const bool passes_null = call.rank == 0 && call.operation % 3 == 0;
  ASSERT_EQ(tutti_exscan(call.group, in.data(), passes_null ? nullptr : out.data(), count,
                         TUTTI_INT64, TUTTI_SUM),
            TUTTI_OK)
      << call;
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(out[i], call.rank == 0 ? before[i] : sum(call.operation, call.rank, i)) << call;
  }
}

class ApiParts : public testing::TestWithParam<int> {};

const size_t part_sizes[] = {0, 1, 7, 48, 49, 1000, 1024, 5003, 20000};
const size_t counts[] = {0, 1, 6, 7, 100, 128, 2049, 5000};

// Runs `perform(call, size)` for every size, and every root if the collective has one, a few times
// each.
template <class Perform>
void for_all(int ranks, std::span<const size_t> sizes, bool rooted, Perform perform) {
  spawn(ranks, [&](tutti_group* group, int rank) {
    int operation = 0;
    for (size_t size : sizes) {
      for (int root = 0; root < (rooted ? ranks : 1); ++root) {
        for (int repeat = 0; repeat < 3; ++repeat) {
          ASSERT_NO_FATAL_FAILURE(perform(Call{group, rank, ranks, root, operation++}, size))
              << "size " << size;
        }
      }
    }
  });
}

TEST_P(ApiParts, GatherToEveryRoot) {
  for_all(GetParam(), part_sizes, true,
          [](const Call& call, size_t part) { gather(call, part, false); });
}

TEST_P(ApiParts, ScatterFromEveryRoot) { for_all(GetParam(), part_sizes, true, scatter); }

TEST_P(ApiParts, AllgatherGivesEveryPartToAll) {
  for_all(GetParam(), part_sizes, false,
          [](const Call& call, size_t part) { gather(call, part, true); });
}

TEST_P(ApiParts, AlltoallExchangesParts) { for_all(GetParam(), part_sizes, false, alltoall); }
TEST_P(ApiParts, ReduceScatterGivesEveryRankItsPart) {
  for_all(GetParam(), counts, false, reduce_scatter);
}
TEST_P(ApiParts, ScanSumsUpToTheRank) { for_all(GetParam(), counts, false, scan); }
TEST_P(ApiParts, ExscanSumsUpToTheRankBefore) { for_all(GetParam(), counts, false, exscan); }

// Ranks that run ahead of others (a gather's leaves, a scatter's root, a scan's first rank) must
// wait before they reuse a place in their rings.
TEST_P(ApiParts, LongRunsOfOneSidedCollectives) {
  spawn(GetParam(), [](tutti_group* group, int rank) {
    const int ranks = tutti_group_size(group);
    for (int kind = 0; kind < 3; ++kind) {
      for (int operation = 0; operation < 300; ++operation) {
        const Call call{group, rank, ranks, ranks - 1, operation};
        const size_t count = counts_in_turn[operation % 3];
        switch (kind) {
          case 0: ASSERT_NO_FATAL_FAILURE(gather(call, count * 8, false)); break;
          case 1: ASSERT_NO_FATAL_FAILURE(scatter(call, count * 8)); break;
          default: ASSERT_NO_FATAL_FAILURE(scan(call, count));
        }
      }
    }
  });
}

void bcast(const Call& call, size_t count) {
  Numbers out = contribution(call.operation, call.rank, count);
  ASSERT_EQ(tutti_bcast(call.group, out.data(), count * 8, call.root), TUTTI_OK) << call;
  ASSERT_EQ(out, contribution(call.operation, call.root, count)) << call;
}

void reduce(const Call& call, size_t count, bool everywhere) {
  const Numbers in = contribution(call.operation, call.rank, count);
  Numbers out(count);
  ASSERT_EQ(everywhere
                ? tutti_allreduce(call.group, in.data(), out.data(), count, TUTTI_INT64, TUTTI_SUM)
                : tutti_reduce(call.group, in.data(), out.data(), count, TUTTI_INT64, TUTTI_SUM,
                               call.root),
            TUTTI_OK)
      << call;
  const bool receives = everywhere || call.at_root();
  for (size_t i = 0; i < count; ++i)
    ASSERT_EQ(out[i], receives ? sum(call.operation, call.ranks, i) : 0) << call;
}

void one_of_all(const Call& call, unsigned kind, size_t count) {
  switch (kind) {
    case 0: return bcast(call, count);
    case 1: return reduce(call, count, false);
    case 2: return reduce(call, count, true);
    case 3: return gather(call, count, false);
    case 4: return gather(call, count, true);
    case 5: return scatter(call, count);
    case 6: return alltoall(call, count);
    case 7: return reduce_scatter(call, count);
    case 8: return scan(call, count);
    case 9: return exscan(call, count);
    default: ASSERT_EQ(tutti_barrier(call.group), TUTTI_OK) << call;
  }
}

// All ranks use the same seed: all eleven collectives, with random sizes and roots, in random
// order.
TEST_P(ApiParts, RandomMixtureOfAllCollectives) {
  spawn(GetParam(), [](tutti_group* group, int rank) {
    const int ranks = tutti_group_size(group);
    std::mt19937 random(54321);
    for (int operation = 0; operation < 400; ++operation) {
      const size_t count = random() % 4 == 0 ? random() % 3000 : random() % 9;
      const int root = static_cast<int>(random() % static_cast<unsigned>(ranks));
      ASSERT_NO_FATAL_FAILURE(
          one_of_all({group, rank, ranks, root, operation}, random() % 11, count));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, ApiParts, testing::Range(1, 9), testing::PrintToStringParamName());

}  // namespace
