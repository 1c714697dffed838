// Makes collective calls of thread ranks, for tests, and compares the results with those that MPI
// defines. The values differ by rank, round and element.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "group/test_functions.h"
#include "group/test_ranks.h"

namespace tutti::group::test {

using plan::Collective;
using Vector = std::vector<uint64_t>;

// An element of a rank, which differs in every round. The sum over a test's ranks does not
// overflow.
inline uint64_t value(int round, int rank, size_t i) {
  return (static_cast<uint64_t>(round) << 40) +
         (static_cast<uint64_t>(rank + 1) << 24) * (1 + i % 3) + i;
}

inline Vector data_of(int round, int rank, size_t count) {
  Vector data(count);
  for (size_t i = 0; i < count; ++i) data[i] = value(round, rank, i);
  return data;
}

inline constexpr uint64_t untouched = 0xDEADBEEFDEADBEEFu;

// One call that all ranks of a test make.
struct TestCall {
  Collective collective;
  size_t count;  // elements of a part, or of the vector
  int root;
  bool in_place;
  int round;
};

void expect_parts(Group& group, const TestCall& call, const Vector& out, size_t first,
                  size_t blocks, auto&& expected) {
  for (size_t block = 0; block < blocks; ++block) {
    for (size_t i = 0; i < call.count; ++i) {
      const uint64_t found = out[first + block * call.count + i];
      if (found == expected(block, i)) continue;
      ADD_FAILURE() << plan::name(call.collective) << " by "
                    << group.algorithm(call.collective, call.count * 8, call.root) << ", "
                    << group.ranks() << " ranks, rank " << group.rank() << ", root " << call.root
                    << ", count " << call.count << (call.in_place ? ", in place" : "")
                    << ": element " << i << " of block " << block << " is " << found << ", must be "
                    << expected(block, i);
      return;
    }
  }
}

inline void gather_or_allgather(Group& group, const TestCall& call) {
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
  const Code code = everywhere ? allgather(group, source, out.data(), call.count * 8)
                               : gather(group, source, out.data(), call.count * 8, call.root);
  ASSERT_EQ(code, Code::ok) << group.failure();
  if (!receives) return;
  expect_parts(group, call, out, 0, ranks, [&](size_t block, size_t i) {
    return value(call.round, static_cast<int>(block), i);
  });
}

inline void scatter(Group& group, const TestCall& call) {
  const auto ranks = static_cast<size_t>(group.ranks()), rank = static_cast<size_t>(group.rank());
  const bool at_root = group.rank() == call.root;
  Vector in = at_root ? data_of(call.round, call.root, ranks * call.count) : Vector();
  Vector out(call.count, untouched);
  uint64_t* target = at_root && call.in_place ? in.data() + rank * call.count : out.data();
  ASSERT_EQ(scatter(group, in.data(), target, call.count * 8, call.root), Code::ok)
      << group.failure();
  out.assign(target, target + call.count);
  expect_parts(group, call, out, 0, 1, [&](size_t, size_t i) {
    return value(call.round, call.root, rank * call.count + i);
  });
}

inline void alltoall(Group& group, const TestCall& call) {
  const auto ranks = static_cast<size_t>(group.ranks()), rank = static_cast<size_t>(group.rank());
  Vector in = data_of(call.round, group.rank(), ranks * call.count);
  Vector out(call.in_place ? 0 : ranks * call.count, untouched);
  Vector& result = call.in_place ? in : out;
  ASSERT_EQ(alltoall(group, in.data(), result.data(), call.count * 8), Code::ok) << group.failure();
  expect_parts(group, call, result, 0, ranks, [&](size_t block, size_t i) {
    return value(call.round, static_cast<int>(block), rank * call.count + i);
  });
}

inline uint64_t sum_of(const TestCall& call, int ranks, size_t i) {
  uint64_t total = 0;
  for (int rank = 0; rank < ranks; ++rank) total += value(call.round, rank, i);
  return total;
}

inline void reduce_scatter(Group& group, const TestCall& call) {
  const auto ranks = static_cast<size_t>(group.ranks()), rank = static_cast<size_t>(group.rank());
  Vector in = data_of(call.round, group.rank(), ranks * call.count);
  Vector out(call.count, untouched);
  uint64_t* target = call.in_place ? in.data() : out.data();
  ASSERT_EQ(reduce_scatter(group, in.data(), target, call.count, sum_of_integers()), Code::ok)
      << group.failure();
  out.assign(target, target + call.count);
  expect_parts(group, call, out, 0, 1, [&](size_t, size_t i) {
    return sum_of(call, group.ranks(), rank * call.count + i);
  });
}

inline void scan(Group& group, const TestCall& call) {
  const bool exclusive = call.collective == Collective::exscan;
  Vector in = data_of(call.round, group.rank(), call.count);
  Vector out(call.in_place ? 0 : call.count, untouched);
  Vector& result = call.in_place ? in : out;
  const Code code = exclusive
                        ? exscan(group, in.data(), result.data(), call.count, sum_of_integers())
                        : scan(group, in.data(), result.data(), call.count, sum_of_integers());
  ASSERT_EQ(code, Code::ok) << group.failure();
  const int first_ranks = group.rank() + (exclusive ? 0 : 1);
  expect_parts(group, call, result, 0, 1, [&](size_t, size_t i) {
    if (first_ranks == 0) return call.in_place ? value(call.round, 0, i) : untouched;
    return sum_of(call, first_ranks, i);
  });
}

inline void bcast(Group& group, const TestCall& call) {
  Vector data = group.rank() == call.root ? data_of(call.round, call.root, call.count)
                                          : Vector(call.count, untouched);
  ASSERT_EQ(bcast(group, data.data(), call.count * 8, call.root), Code::ok) << group.failure();
  expect_parts(group, call, data, 0, 1,
               [&](size_t, size_t i) { return value(call.round, call.root, i); });
}

inline void reduce_or_allreduce(Group& group, const TestCall& call) {
  const bool everywhere = call.collective == Collective::allreduce;
  const bool receives = everywhere || group.rank() == call.root;
  Vector in = data_of(call.round, group.rank(), call.count);
  Vector out(receives && !call.in_place ? call.count : 0, untouched);
  uint64_t* const own = call.in_place ? in.data() : out.data();
  uint64_t* const target = receives ? own : nullptr;
  const Code code =
      everywhere ? allreduce(group, in.data(), target, call.count, sum_of_integers())
                 : reduce(group, in.data(), target, call.count, sum_of_integers(), call.root);
  ASSERT_EQ(code, Code::ok) << group.failure();
  // A rank may write its buffer as soon as its call has returned.
  if (target != in.data()) std::fill(in.begin(), in.end(), untouched);
  if (!receives) return;
  expect_parts(group, call, call.in_place ? in : out, 0, 1,
               [&](size_t, size_t i) { return sum_of(call, group.ranks(), i); });
}

inline void perform(Group& group, const TestCall& call) {
  switch (call.collective) {
    case Collective::bcast: return bcast(group, call);
    case Collective::reduce:
    case Collective::allreduce: return reduce_or_allreduce(group, call);
    case Collective::gather:
    case Collective::allgather: return gather_or_allgather(group, call);
    case Collective::scatter: return scatter(group, call);
    case Collective::alltoall: return alltoall(group, call);
    case Collective::reduce_scatter: return reduce_scatter(group, call);
    default: return scan(group, call);
  }
}

}  // namespace tutti::group::test
