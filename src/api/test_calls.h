// Calls of every kind with their results checked, for tests of teams of all kinds. All ranks of a
// group make them alike.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "api/test_processes.h"
#include "tutti/tutti.h"

namespace tutti::test {

inline float as_float(uint16_t bfloat16) {
  const uint32_t bits = static_cast<uint32_t>(bfloat16) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Every collective, by its call that waits and by its start and completion.
inline void use_all(const Rank& own, size_t count) {
  tutti_group* const group = own.group;
  const int rank = tutti_group_rank(group), ranks = tutti_group_size(group);
  const auto all = static_cast<size_t>(ranks);
  std::vector<int64_t> in(count), out(count), parts_in(all * count), parts_out(all * count);
  int64_t sum_of_ranks = 0;
  for (int i = 0; i < ranks; ++i) sum_of_ranks += i + 1;
  for (size_t i = 0; i < count; ++i) in[i] = (rank + 1) * static_cast<int64_t>(i + 1);
  for (size_t i = 0; i < all * count; ++i) parts_in[i] = rank * 1000000 + static_cast<int64_t>(i);
  const size_t bytes = count * sizeof(int64_t);
  const auto sum_at = [&](size_t i) { return sum_of_ranks * static_cast<int64_t>(i + 1); };
  const int root = ranks - 1;
  for (const bool starts : {false, true}) {
    tutti_request* request = nullptr;
    const auto clear = [&] {
      std::fill(out.begin(), out.end(), -1);
      std::fill(parts_out.begin(), parts_out.end(), -1);
    };
    const auto done = [&](tutti_status status) {
      REQUIRE(status == TUTTI_OK);
      if (starts) complete(request);
    };
    const auto type = TUTTI_INT64;
    done(starts ? tutti_ibarrier(group, &request) : tutti_barrier(group));
    clear();
    done(starts ? tutti_iallreduce(group, in.data(), out.data(), count, type, TUTTI_SUM, &request)
                : tutti_allreduce(group, in.data(), out.data(), count, type, TUTTI_SUM));
    for (size_t i = 0; i < count; ++i) REQUIRE(out[i] == sum_at(i));
    out = in;
    done(starts ? tutti_iallreduce(group, out.data(), out.data(), count, type, TUTTI_SUM, &request)
                : tutti_allreduce(group, out.data(), out.data(), count, type, TUTTI_SUM));
    for (size_t i = 0; i < count; ++i) REQUIRE(out[i] == sum_at(i));
    clear();
    done(starts
             ? tutti_ireduce(group, in.data(), out.data(), count, type, TUTTI_SUM, root, &request)
             : tutti_reduce(group, in.data(), out.data(), count, type, TUTTI_SUM, root));
    for (size_t i = 0; i < count; ++i) REQUIRE(out[i] == (rank == root ? sum_at(i) : -1));
    out = in;
    done(starts ? tutti_ibcast(group, out.data(), bytes, root, &request)
                : tutti_bcast(group, out.data(), bytes, root));
    for (size_t i = 0; i < count; ++i) REQUIRE(out[i] == ranks * static_cast<int64_t>(i + 1));
    clear();
    done(starts ? tutti_iallgather(group, in.data(), parts_out.data(), bytes, &request)
                : tutti_allgather(group, in.data(), parts_out.data(), bytes));
    for (size_t i = 0; i < all * count; ++i)
      REQUIRE(parts_out[i] ==
              static_cast<int64_t>(i / count + 1) * static_cast<int64_t>(i % count + 1));
    clear();
    done(starts ? tutti_igather(group, in.data(), parts_out.data(), bytes, root, &request)
                : tutti_gather(group, in.data(), parts_out.data(), bytes, root));
    if (rank == root)
      for (size_t i = 0; i < all * count; ++i)
        REQUIRE(parts_out[i] ==
                static_cast<int64_t>(i / count + 1) * static_cast<int64_t>(i % count + 1));
    clear();
    done(starts ? tutti_iscatter(group, parts_in.data(), out.data(), bytes, root, &request)
                : tutti_scatter(group, parts_in.data(), out.data(), bytes, root));
    for (size_t i = 0; i < count; ++i)
      REQUIRE(out[i] ==
              root * 1000000 + static_cast<int64_t>(static_cast<size_t>(rank) * count + i));
    clear();
    done(starts ? tutti_ialltoall(group, parts_in.data(), parts_out.data(), bytes, &request)
                : tutti_alltoall(group, parts_in.data(), parts_out.data(), bytes));
    for (size_t i = 0; i < all * count; ++i)
      REQUIRE(parts_out[i] ==
              static_cast<int64_t>(i / count) * 1000000 +
                  static_cast<int64_t>(static_cast<size_t>(rank) * count + i % count));
    clear();
    done(starts ? tutti_ireduce_scatter(group, parts_in.data(), out.data(), count, type, TUTTI_SUM,
                                        &request)
                : tutti_reduce_scatter(group, parts_in.data(), out.data(), count, type, TUTTI_SUM));
    for (size_t i = 0; i < count; ++i)
      REQUIRE(out[i] == (sum_of_ranks - ranks) * 1000000 +
                            ranks * static_cast<int64_t>(static_cast<size_t>(rank) * count + i));
  }
}

// Parts of different lengths: rank r sends r + j + 1 numbers to rank j, and none to itself.
inline void use_alltoallv(const Rank& own) {
  const int rank = tutti_group_rank(own.group), ranks = tutti_group_size(own.group);
  const auto length = [](int from, int to) { return from == to ? 0u : unsigned(from + to + 1); };
  std::vector<int> in, out;
  std::vector<ptrdiff_t> in_at, out_at;
  std::vector<size_t> in_bytes, out_bytes;
  for (int peer = 0; peer < ranks; ++peer) {
    in_at.push_back(static_cast<ptrdiff_t>(in.size() * sizeof(int)));
    out_at.push_back(static_cast<ptrdiff_t>(out.size() * sizeof(int)));
    in_bytes.push_back(length(rank, peer) * sizeof(int));
    out_bytes.push_back(length(peer, rank) * sizeof(int));
    in.insert(in.end(), length(rank, peer), 100 * rank + peer);
    out.insert(out.end(), length(peer, rank), -1);
  }
  tutti_request* request = nullptr;
  REQUIRE(tutti_ialltoallv(own.group, in.data(), in_at.data(), in_bytes.data(), out.data(),
                           out_at.data(), out_bytes.data(), &request) == TUTTI_OK);
  complete(request);
  size_t i = 0;
  for (int peer = 0; peer < ranks; ++peer)
    for (unsigned k = 0; k < length(peer, rank); ++k) REQUIRE(out[i++] == 100 * peer + rank);
}

// 256 + 1 + 1 + ...: bfloat16 has 8 bits, so 257 would round to 256 after each addition.
inline void use_short_types(const Rank& own) {
  const int rank = tutti_group_rank(own.group), ranks = tutti_group_size(own.group);
  const uint16_t one = 0x3f80, large = 0x4380;  // 1, 256
  for (const size_t count : {size_t{5}, size_t{70000}}) {
    std::vector<uint16_t> in(count, rank == 0 ? large : one), out(count);
    tutti_request* request = nullptr;
    REQUIRE(tutti_iallreduce(own.group, in.data(), out.data(), count, TUTTI_BFLOAT16, TUTTI_SUM,
                             &request) == TUTTI_OK);
    complete(request);
    const float exact = 256.0f + static_cast<float>(ranks - 1);
    for (const uint16_t value : out)
      REQUIRE(std::fabs(as_float(value) - exact) <= 1.0f && (ranks != 3 || value == 0x4381));
    REQUIRE(tutti_iallreduce(own.group, in.data(), out.data(), count, TUTTI_BFLOAT16, TUTTI_AVG,
                             &request) == TUTTI_OK);
    complete(request);
    for (const uint16_t value : out)
      REQUIRE(std::fabs(as_float(value) * static_cast<float>(ranks) / exact - 1) < 0x1p-8f);
  }
  const uint16_t half = 0x3800;  // 0.5 as float16
  uint16_t sum = 0;
  tutti_request* request = nullptr;
  REQUIRE(tutti_iallreduce(own.group, &half, &sum, 1, TUTTI_FLOAT16, TUTTI_SUM, &request) ==
          TUTTI_OK);
  complete(request);
  REQUIRE(ranks != 2 || sum == 0x3c00);
  REQUIRE(ranks != 4 || sum == 0x4000);
  REQUIRE(tutti_allreduce(own.group, &half, &sum, 1, TUTTI_FLOAT16, TUTTI_SUM) ==
          TUTTI_INVALID_ARGUMENT);
  int64_t whole = 1;
  REQUIRE(tutti_iallreduce(own.group, &whole, &whole, 1, TUTTI_INT64, TUTTI_AVG, &request) ==
          TUTTI_INVALID_ARGUMENT);
}

// Messages with two tags, received in the other order, and from any rank; short and long.
inline void use_messages(const Rank& own) {
  tutti_group* const group = own.group;
  const int rank = tutti_group_rank(group), ranks = tutti_group_size(group);
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  for (int round = 0; round < 30; ++round)
    for (const size_t count : {size_t{1}, size_t{30000}}) {
      std::vector<int> first(count, 10 * rank), second(count, 10 * rank + 1), got(count, -1);
      REQUIRE(tutti_send(group, next, 7, first.data(), 4 * count) == TUTTI_OK);
      REQUIRE(tutti_send(group, next, 8, second.data(), 4 * count) == TUTTI_OK);
      tutti_request* request = nullptr;
      REQUIRE(tutti_irecv(group, before, 8, got.data(), 4 * count, nullptr, &request) == TUTTI_OK);
      complete(request);
      REQUIRE(got == std::vector<int>(count, 10 * before + 1));
      int sender = -1;
      REQUIRE(tutti_irecv(group, TUTTI_ANY, 7, got.data(), 4 * count, &sender, &request) ==
              TUTTI_OK);
      complete(request);
      REQUIRE(sender == before && got == std::vector<int>(count, 10 * before));
    }
  REQUIRE(tutti_send(group, next, 9, &rank, sizeof rank) == TUTTI_OK);
  char shorter = 0;
  tutti_request* request = nullptr;
  REQUIRE(tutti_irecv(group, before, 9, &shorter, 1, nullptr, &request) == TUTTI_OK);
  REQUIRE(tutti_request_wait(&request, 20) == TUTTI_MISMATCH && request == nullptr);
}

}  // namespace tutti::test
