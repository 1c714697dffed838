// V-collectives of thread ranks, for tests: each makes the call and compares the result with what
// MPI defines. Parts have different lengths, some are empty, and there are gaps between them.
// Where `group` is not a Group, it has functions of the same names, and v_collective and
// v_reduce_scatter (test_functions.h) exist for it.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>

#include "group/test_functions.h"

namespace tutti::group::test::v_calls {

using plan::Collective;
using Vector = std::vector<uint64_t>;

inline const uint64_t untouched = 0xDEADBEEFDEADBEEFu;
inline constexpr size_t gap = 3;  // elements between neighbouring parts

// One operation. length(from, to) is the number of elements that rank `from` has for rank `to`; in
// a gather `to` is the root.
struct Call {
  Collective collective;
  size_t scale;  // about the mean length, in elements
  int root;
  bool in_place;
  bool known;  // all ranks know the longest part
  int round;

  size_t length(int from, int to) const {
    const int seed = from * 7 + to * 13 + round;
    if (seed % 4 == 0) return 0;
    return scale * static_cast<size_t>(seed % 5) / 2 + static_cast<size_t>(seed % 3);
  }
  // In an allgather and a reduce_scatter, a part has the same length at all ranks.
  size_t part(int of) const { return length(of, of); }
  uint64_t value(int from, int to, size_t i) const {
    return (static_cast<uint64_t>(round) << 44) + (static_cast<uint64_t>(from + 1) << 36) +
           (static_cast<uint64_t>(to + 1) << 28) + i;
  }
};

// A buffer of parts with gaps between them, and the places of the parts.
struct Buffer {
  Vector data;
  std::vector<ptrdiff_t> at;  // bytes
  std::vector<size_t> bytes;

  explicit Buffer(const std::vector<size_t>& lengths) {
    size_t next = gap;
    for (const size_t length : lengths) {
      at.push_back(static_cast<ptrdiff_t>(next * sizeof(uint64_t)));
      bytes.push_back(length * sizeof(uint64_t));
      next += length + gap;
    }
    data.assign(next, untouched);
  }
  uint64_t* part(int i) {
    return data.data() + at[static_cast<size_t>(i)] / static_cast<ptrdiff_t>(sizeof(uint64_t));
  }
  size_t length(int i) const { return bytes[static_cast<size_t>(i)] / sizeof(uint64_t); }
  exec::Parts parts() const { return {at.data(), bytes.data()}; }
  exec::Parts part_alone(int i) const { return {&zero, &bytes[static_cast<size_t>(i)]}; }

  static constexpr ptrdiff_t zero = 0;
};

inline std::vector<size_t> lengths(int ranks, auto&& length) {
  std::vector<size_t> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(length(rank));
  return all;
}

inline void fill(Buffer& buffer, int ranks, auto&& value) {
  for (int rank = 0; rank < ranks; ++rank)
    for (size_t i = 0; i < buffer.length(rank); ++i) buffer.part(rank)[i] = value(rank, i);
}

// Overwrites an input, as a user may do as soon as the call has returned.
inline void spoil(Buffer& buffer) { std::fill(buffer.data.begin(), buffer.data.end(), ~untouched); }

// Checks the parts, and that nothing was written between them.
inline void expect(auto& group, const Call& call, Buffer& found, auto&& value) {
  Buffer expected = found;
  std::fill(expected.data.begin(), expected.data.end(), untouched);
  fill(expected, static_cast<int>(found.at.size()), value);
  EXPECT_EQ(found.data == expected.data, true)
      << plan::name(call.collective) << ", " << group.ranks() << " ranks, rank " << group.rank()
      << ", root " << call.root << ", scale " << call.scale << (call.in_place ? ", in place" : "")
      << ", round " << call.round;
}

inline size_t longest(const Call& call, int ranks) {
  if (!call.known) return unknown_length;
  size_t most = 0;
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      const bool one_length =
          call.collective == Collective::allgather || call.collective == Collective::reduce_scatter;
      most = std::max(most, one_length ? call.part(from) : call.length(from, to));
    }
  }
  return most * sizeof(uint64_t);
}

inline void gather(auto& group, const Call& call) {
  const bool everywhere = call.collective == Collective::allgather;
  const int ranks = group.ranks(), rank = group.rank();
  const auto length = [&](int from) {
    return everywhere ? call.part(from) : call.length(from, call.root);
  };
  const auto value = [&](int from, size_t i) {
    return call.value(from, everywhere ? 0 : call.root, i);
  };
  const bool receives = everywhere || rank == call.root;
  Buffer out(receives ? lengths(ranks, length) : std::vector<size_t>());
  Buffer in({length(rank)});
  for (size_t i = 0; i < length(rank); ++i) in.part(0)[i] = value(rank, i);
  const void* source = in.part(0);
  if (call.in_place && receives) {
    std::copy_n(in.part(0), length(rank), out.part(rank));
    source = out.part(rank);
  }
  const exec::VParts parts{in.part_alone(0), receives ? out.parts() : exec::Parts{}};
  ASSERT_EQ(v_collective(group, call.collective, source, out.data.data(), parts,
                         longest(call, ranks), call.root),
            Code::ok)
      << group.failure();
  spoil(in);
  if (receives) expect(group, call, out, value);
}

inline void scatter(auto& group, const Call& call) {
  const int ranks = group.ranks(), rank = group.rank();
  const auto length = [&](int to) { return call.length(call.root, to); };
  const bool sends = rank == call.root;
  Buffer in(sends ? lengths(ranks, length) : std::vector<size_t>());
  if (sends) fill(in, ranks, [&](int to, size_t i) { return call.value(call.root, to, i); });
  Buffer out({length(rank)});
  const bool in_place = call.in_place && sends;
  const exec::VParts parts{sends ? in.parts() : exec::Parts{}, out.part_alone(0)};
  ASSERT_EQ(
      v_collective(group, call.collective, in.data.data(), in_place ? in.part(rank) : out.part(0),
                   parts, longest(call, ranks), call.root),
      Code::ok)
      << group.failure();
  if (in_place) std::copy_n(in.part(rank), length(rank), out.part(0));
  spoil(in);
  expect(group, call, out, [&](int, size_t i) { return call.value(call.root, rank, i); });
}

inline void alltoall(auto& group, const Call& call) {
  const int ranks = group.ranks(), rank = group.rank();
  // In place, a part that arrives replaces the part that was sent, so both have the same length.
  const auto length = [&](int from, int to) {
    return call.in_place ? call.length(std::min(from, to), std::max(from, to))
                         : call.length(from, to);
  };
  Buffer in(lengths(ranks, [&](int to) { return length(rank, to); }));
  fill(in, ranks, [&](int to, size_t i) { return call.value(rank, to, i); });
  Buffer separate(lengths(ranks, [&](int from) { return length(from, rank); }));
  Buffer& out = call.in_place ? in : separate;
  ASSERT_EQ(v_collective(group, call.collective, in.data.data(), out.data.data(),
                         {in.parts(), out.parts()}, longest(call, ranks), 0),
            Code::ok)
      << group.failure();
  if (!call.in_place) spoil(in);
  expect(group, call, out, [&](int from, size_t i) { return call.value(from, rank, i); });
}

inline void reduce_scatter(auto& group, const Call& call) {
  const int ranks = group.ranks(), rank = group.rank();
  Buffer in(lengths(ranks, [&](int part) { return call.part(part); }));
  fill(in, ranks, [&](int part, size_t i) { return call.value(rank, part, i); });
  Buffer out({call.part(rank)});
  const exec::VParts parts{in.parts(), out.part_alone(0)};
  ASSERT_EQ(v_reduce_scatter(group, in.data.data(), call.in_place ? in.data.data() : out.part(0),
                             parts, longest(call, ranks), sum_of_integers()),
            Code::ok)
      << group.failure();
  if (call.in_place) std::copy_n(in.data.data(), call.part(rank), out.part(0));
  spoil(in);
  expect(group, call, out, [&](int, size_t i) {
    uint64_t sum = 0;
    for (int from = 0; from < ranks; ++from) sum += call.value(from, rank, i);
    return sum;
  });
}

inline void perform(auto& group, const Call& call) {
  switch (call.collective) {
    case Collective::scatter: return scatter(group, call);
    case Collective::alltoall: return alltoall(group, call);
    case Collective::reduce_scatter: return reduce_scatter(group, call);
    default: return gather(group, call);
  }
}

inline void all_calls(auto& group, std::span<const size_t> scales) {
  int round = 0;
  for (Collective collective : {Collective::gather, Collective::scatter, Collective::allgather,
                                Collective::alltoall, Collective::reduce_scatter}) {
    for (size_t scale : scales) {
      for (int turn = 0; turn < 8; ++turn) {
        const int root = plan::rooted(collective) ? (turn * 3) % group.ranks() : 0;
        const bool in_place = turn % 4 >= 2;
        const bool known = collective == Collective::reduce_scatter || turn % 2 == 0;
        perform(group, {collective, scale, root, in_place, known, ++round});
      }
    }
  }
}

inline void calls_of_all_sizes(Group& group) {
  all_calls(group, std::array<size_t, 5>{0, 2, 40, 1200, 9000});
}

// The lengths that ranks expect come from earlier calls. Here parts are as long, longer, much
// longer or shorter than expected.
inline void calls_unlike_the_last(Group& group) {
  const std::array<size_t, 24> scales{1,  1, 2, 1, 40, 40, 1, 100,  1200, 1, 1, 1,
                                      40, 1, 1, 1, 1,  1,  1, 9000, 100,  0, 0, 1};
  int round = 0;
  for (Collective collective : {Collective::gather, Collective::scatter, Collective::alltoall}) {
    for (size_t scale : scales) {
      ++round;
      const int root = plan::rooted(collective) ? round / 5 % group.ranks() : 0;
      perform(group, {collective, scale, root, round % 3 == 0, false, round});
    }
  }
}

// One part is long while short ones are expected. The long part goes from every rank to every rank
// in turn.
inline void one_is_long(Group& group) {
  const int ranks = group.ranks(), rank = group.rank(), pairs = ranks * ranks, calls_each = 8;
  for (int round = 0; round < 2 * pairs * calls_each; ++round) {
    const int turn = round / calls_each, from = turn / ranks % ranks, to = turn % ranks;
    const bool in_place = turn >= pairs;
    const auto length = [&](int a, int b) -> size_t {
      const bool is_the_one = (a == from && b == to) || (in_place && a == to && b == from);
      return is_the_one && round % calls_each == 0 ? size_t{500} << (turn % 3) : 1;
    };
    Buffer in(lengths(ranks, [&](int other) { return length(rank, other); }));
    Buffer separate(lengths(ranks, [&](int other) { return length(other, rank); }));
    Buffer& out = in_place ? in : separate;
    const Call call{Collective::alltoall, 1, 0, in_place, false, round};
    fill(in, ranks, [&](int other, size_t i) { return call.value(rank, other, i); });
    ASSERT_EQ(v_collective(group, call.collective, in.data.data(), out.data.data(),
                           {in.parts(), out.parts()}, unknown_length, 0),
              Code::ok)
        << group.failure();
    expect(group, call, out, [&](int other, size_t i) { return call.value(other, rank, i); });
  }
}

}  // namespace tutti::group::test::v_calls
