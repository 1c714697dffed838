// The collectives with parts, and the scans, on thread ranks: every algorithm, root, buffers of one and of two, sizes from
// nothing to many segments, against what MPI says that they give.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "algo/algo.h"
#include "group/group_ranks.h"

namespace tutti::group::test {
namespace {

using plan::Collective;
using Vector = std::vector<uint64_t>;

// A rank's element, another in every round; sums of a few stay exact.
uint64_t value(int round, int rank, size_t i) {
  return (static_cast<uint64_t>(round) << 40) + (static_cast<uint64_t>(rank + 1) << 24) * (1 + i % 3) + i;
}

Vector data_of(int round, int rank, size_t count) {
  Vector data(count);
  for (size_t i = 0; i < count; ++i) data[i] = value(round, rank, i);
  return data;
}

const uint64_t untouched = 0xDEADBEEFDEADBEEFu;

struct Call {
  Collective collective;
  size_t count;  // elements of a part, or of the vector
  int root;
  bool in_place;
  int round;
};

void expect_parts(Group& group, const Call& call, const Vector& out, size_t first, size_t blocks, auto&& expected) {
  for (size_t block = 0; block < blocks; ++block) {
    for (size_t i = 0; i < call.count; ++i) {
      const uint64_t found = out[first + block * call.count + i];
      if (found == expected(block, i)) continue;
      ADD_FAILURE() << plan::name(call.collective) << " by " << group.algorithm(call.collective, call.count * 8, call.root)
                    << ", " << group.ranks() << " ranks, rank " << group.rank() << ", root " << call.root << ", count "
                    << call.count << (call.in_place ? ", in place" : "") << ": element " << i << " of block " << block << " is "
                    << found << ", must be " << expected(block, i);
      return;
    }
  }
}

void gather_or_allgather(Group& group, const Call& call) {
  const bool everywhere = call.collective == Collective::allgather;
  const auto ranks = static_cast<size_t>(group.ranks()), rank = static_cast<size_t>(group.rank());
  const bool receives = everywhere || group.rank() == call.root;
  Vector in = data_of(call.round, group.rank(), call.count);
  Vector out(receives ? ranks * call.count : 0, untouched);
  const void* source = in.data();
  if (call.in_place && receives) {
    std::copy(in.begin(), in.end(), out.begin() + static_cast<ptrdiff_t>(rank * call.count));
    source = out.data() + rank * call.count;
  }
  const Code code = everywhere ? group.allgather(source, out.data(), call.count * 8)
                               : group.gather(source, out.data(), call.count * 8, call.root);
  ASSERT_EQ(code, Code::ok) << group.failure();
  if (!receives) return;
  expect_parts(group, call, out, 0, ranks, [&](size_t block, size_t i) { return value(call.round, static_cast<int>(block), i); });
}

void scatter(Group& group, const Call& call) {
  const auto ranks = static_cast<size_t>(group.ranks()), rank = static_cast<size_t>(group.rank());
  const bool at_root = group.rank() == call.root;
  Vector in = at_root ? data_of(call.round, call.root, ranks * call.count) : Vector();
  Vector out(call.count, untouched);
  uint64_t* target = at_root && call.in_place ? in.data() + rank * call.count : out.data();
  ASSERT_EQ(group.scatter(in.data(), target, call.count * 8, call.root), Code::ok) << group.failure();
  out.assign(target, target + call.count);
  expect_parts(group, call, out, 0, 1,
               [&](size_t, size_t i) { return value(call.round, call.root, rank * call.count + i); });
}

void alltoall(Group& group, const Call& call) {
  const auto ranks = static_cast<size_t>(group.ranks()), rank = static_cast<size_t>(group.rank());
  Vector in = data_of(call.round, group.rank(), ranks * call.count);
  Vector out(call.in_place ? 0 : ranks * call.count, untouched);
  Vector& result = call.in_place ? in : out;
  ASSERT_EQ(group.alltoall(in.data(), result.data(), call.count * 8), Code::ok) << group.failure();
  expect_parts(group, call, result, 0, ranks, [&](size_t block, size_t i) {
    return value(call.round, static_cast<int>(block), rank * call.count + i);
  });
}

uint64_t sum_of(const Call& call, int ranks, size_t i) {
  uint64_t total = 0;
  for (int rank = 0; rank < ranks; ++rank) total += value(call.round, rank, i);
  return total;
}

void reduce_scatter(Group& group, const Call& call) {
  const auto ranks = static_cast<size_t>(group.ranks()), rank = static_cast<size_t>(group.rank());
  Vector in = data_of(call.round, group.rank(), ranks * call.count);
  Vector out(call.count, untouched);
  uint64_t* target = call.in_place ? in.data() : out.data();
  ASSERT_EQ(group.reduce_scatter(in.data(), target, call.count, sum_of_integers()), Code::ok) << group.failure();
  out.assign(target, target + call.count);
  expect_parts(group, call, out, 0, 1, [&](size_t, size_t i) { return sum_of(call, group.ranks(), rank * call.count + i); });
}

void scan(Group& group, const Call& call) {
  const bool exclusive = call.collective == Collective::exscan;
  Vector in = data_of(call.round, group.rank(), call.count);
  Vector out(call.in_place ? 0 : call.count, untouched);
  Vector& result = call.in_place ? in : out;
  const Code code = exclusive ? group.exscan(in.data(), result.data(), call.count, sum_of_integers())
                              : group.scan(in.data(), result.data(), call.count, sum_of_integers());
  ASSERT_EQ(code, Code::ok) << group.failure();
  const int first_ranks = group.rank() + (exclusive ? 0 : 1);
  expect_parts(group, call, result, 0, 1, [&](size_t, size_t i) {
    if (first_ranks == 0) return call.in_place ? value(call.round, 0, i) : untouched;
    return sum_of(call, first_ranks, i);
  });
}

void perform(Group& group, const Call& call) {
  switch (call.collective) {
    case Collective::gather:
    case Collective::allgather: return gather_or_allgather(group, call);
    case Collective::scatter: return scatter(group, call);
    case Collective::alltoall: return alltoall(group, call);
    case Collective::reduce_scatter: return reduce_scatter(group, call);
    default: return scan(group, call);
  }
}

const Collective collectives[] = {Collective::gather,         Collective::scatter, Collective::allgather, Collective::alltoall,
                                  Collective::reduce_scatter, Collective::scan,    Collective::exscan};
const size_t counts[] = {0, 1, 5, 6, 7, 100, 1500, 9001};

void all_calls(Group& group, Collective collective, std::span<const size_t> sizes) {
  int round = 0;
  for (size_t count : sizes) {
    for (int root = 0; root < (plan::rooted(collective) ? group.ranks() : 1); ++root) {
      if (root > 2 && root + 1 < group.ranks()) continue;
      for (bool in_place : {false, true}) {
        perform(group, {collective, count, root, in_place, ++round});
      }
    }
  }
}

// The check of lowered programs grows with the square of the ranks and more; algo_test does it too.
constexpr int checked_below = 6;

class Parts : public testing::TestWithParam<int> {};

TEST_P(Parts, ByTheChosenAlgorithms) {
  for (bool oversubscribed : {true, false}) {
    if (!oversubscribed && GetParam() > 2) continue;
    for (size_t segment : {size_t{0}, size_t{640}}) {
      select::Overrides overrides;
      overrides.segment_bytes = segment;
      with_groups(GetParam(), overrides, {}, [](Group& group) {
        for (Collective collective : collectives) all_calls(group, collective, counts);
      }, oversubscribed, 64 * 1024, GetParam() < checked_below);
    }
  }
}

TEST_P(Parts, ByEveryAlgorithm) {
  for (const algo::Algorithm& algorithm : algo::algorithms()) {
    select::Overrides overrides;
    overrides.segment_bytes = 1024;
    std::vector<Collective> served;
    for (Collective collective : collectives) {
      if (std::find(algorithm.collectives.begin(), algorithm.collectives.end(), collective) == algorithm.collectives.end()) continue;
      overrides.algorithm[static_cast<size_t>(collective)] = algorithm.name;
      served.push_back(collective);
    }
    if (served.empty()) continue;
    with_groups(GetParam(), overrides, {}, [&](Group& group) {
      for (Collective collective : served) all_calls(group, collective, std::array<size_t, 4>{1, 7, 200, 3000});
    }, true, 64 * 1024, GetParam() < checked_below);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Parts, testing::Values(1, 2, 3, 4, 5, 8, 11));

// Slots and lines for many ranks' parts are short: then slots serve what lines cannot.
TEST(Parts, ManyRanksInLittleMemory) {
  with_groups(18, {}, {}, [](Group& group) {
    for (Collective collective : collectives) all_calls(group, collective, std::array<size_t, 2>{1, 700});
  }, true, shm::smallest_area, false);
}

}  // namespace
}  // namespace tutti::group::test
