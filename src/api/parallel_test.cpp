// Groups whose calls several threads of a rank share (tutti_group_set_parallel).
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "api/test_calls.h"
#include "api/test_processes.h"
#include "base/sanitized.h"
#include "tutti/tutti.h"

namespace {

using namespace tutti::test;

// New threads for each call, so that every part has a thread of its own.
struct Threads {
  int count = 1;
  std::atomic<int> runs{0}, most_parts{0};

  tutti_parallel parallel() {
    return {[](void* own) { return static_cast<Threads*>(own)->count; },
            [](void* own, int parts, void (*part)(void*, int), void* argument) {
              auto& threads = *static_cast<Threads*>(own);
              ++threads.runs;
              if (parts > threads.most_parts) threads.most_parts = parts;
              std::vector<std::thread> all;
              for (int number = 1; number < parts; ++number)
                all.emplace_back(part, argument, number);
              part(argument, 0);
              for (std::thread& thread : all) thread.join();
            },
            this};
  }
};

struct Size {
  tutti_type type;
  size_t bytes;
};
constexpr Size whole[] = {{TUTTI_INT8, 1},   {TUTTI_INT16, 2}, {TUTTI_INT32, 4},
                          {TUTTI_INT64, 8},  {TUTTI_UINT8, 1}, {TUTTI_UINT16, 2},
                          {TUTTI_UINT32, 4}, {TUTTI_UINT64, 8}};
constexpr Size real[] = {{TUTTI_FLOAT32, 4},
                         {TUTTI_FLOAT64, 8},
                         {TUTTI_LONG_DOUBLE, sizeof(long double)},
                         {TUTTI_BFLOAT16, 2},
                         {TUTTI_FLOAT16, 2}};
constexpr Size complex[] = {{TUTTI_COMPLEX64, 8},
                            {TUTTI_COMPLEX128, 16},
                            {TUTTI_COMPLEX_LONG_DOUBLE, 2 * sizeof(long double)}};

// Calls use(type and its size, operation) for all that may be combined.
void for_all_reductions(const std::function<void(Size, tutti_op)>& use) {
  for (const Size& type : whole)
    for (int op = TUTTI_SUM; op <= TUTTI_BXOR; ++op) use(type, static_cast<tutti_op>(op));
  for (const Size& type : real)
    for (const tutti_op op : {TUTTI_SUM, TUTTI_PROD, TUTTI_MAX, TUTTI_MIN}) use(type, op);
  for (const Size& type : {real[0], real[1], real[3], real[4]}) use(type, TUTTI_AVG);
  for (const Size& type : complex)
    for (const tutti_op op : {TUTTI_SUM, TUTTI_PROD}) use(type, op);
}

// Seven parts of at least 256 KiB, and an odd rest.
constexpr size_t seven_parts = (size_t{7} << 18) + (size_t{1} << 12);

// Clears the bytes of long doubles that have no part of the value.
void clear_padding(Size type, std::vector<char>& data) {
  const bool is_long = type.type == TUTTI_LONG_DOUBLE || type.type == TUTTI_COMPLEX_LONG_DOUBLE;
  constexpr size_t value_bytes = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double);
  if (is_long)
    for (size_t i = 0; i < data.size(); ++i)
      if (i % sizeof(long double) >= value_bytes) data[i] = 0;
}

// Two ranks combine all vectors each, three share the work.
TEST(Parallel, ReductionsHaveTheBitsOfOneThread) {
  for (const int ranks : {2, 3}) {
    const Directory directory;
    in_processes(ranks, directory.path, [&](Rank& alone) {
      const int rank = tutti_group_rank(alone.group);
      Threads threads;
      Rank shared(directory.path, "shared", rank, ranks);
      const tutti_parallel parallel = threads.parallel();
      REQUIRE(tutti_group_set_parallel(shared.group, &parallel) == TUTTI_OK);
      std::mt19937 random(static_cast<unsigned>(rank));
      std::vector<uint32_t> words(seven_parts / 4 + 200);
      for (uint32_t& word : words) word = static_cast<uint32_t>(random());
      for_all_reductions([&](Size type, tutti_op op) {
        if (tutti::looks_for_races && op != TUTTI_SUM) return;
        const size_t count = seven_parts / type.bytes + 13, bytes = count * type.bytes;
        const auto sum_of = [&](tutti_group* group, bool in_place) {
          std::vector<char> out(bytes);
          if (in_place) std::memcpy(out.data(), words.data(), bytes);
          const void* const in = in_place ? static_cast<const void*>(out.data()) : words.data();
          tutti_request* request = nullptr;
          REQUIRE(tutti_iallreduce(group, in, out.data(), count, type.type, op, &request) ==
                  TUTTI_OK);
          complete(request);
          clear_padding(type, out);
          return out;
        };
        const std::vector<char> expected = sum_of(alone.group, op % 2 == 0);
        for (const int number : ranks == 2 ? std::vector{1, 3} : std::vector{2, 7}) {
          threads.count = number;
          threads.runs = threads.most_parts = 0;
          REQUIRE(sum_of(shared.group, op % 4 < 2) == expected);
          REQUIRE(threads.most_parts == (number == 1 ? 0 : number));
        }
      });
    });
  }
}

// Every collective, and messages. Vectors of the ranks' own memory are copied into records; a team
// of threads reads them where they are.
TEST(Parallel, AllCollectives) {
  constexpr size_t count = 100003;
  const auto use = [](Rank& own) {
    Threads threads;
    threads.count = 3;
    const tutti_parallel parallel = threads.parallel();
    REQUIRE(tutti_group_set_parallel(own.group, &parallel) == TUTTI_OK);
    use_all(own, count);
    REQUIRE(threads.runs > (tutti_group_size(own.group) == 1 ? 0 : 5) && threads.most_parts == 3);
  };
  for (const int ranks : {1, 2, 3}) {
    const Directory directory;
    in_processes(ranks, directory.path, use);
  }
  tutti_team* team = nullptr;
  ASSERT_EQ(tutti_team_create(3, &team), TUTTI_OK);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 3; ++rank)
    ranks.emplace_back([&, rank] {
      Rank own;
      REQUIRE(tutti_team_join(team, rank, &own.group) == TUTTI_OK);
      use(own);
    });
  for (std::thread& rank : ranks) rank.join();
  tutti_team_free(team);
}

TEST(Parallel, Messages) {
  const Directory directory;
  in_processes(2, directory.path, [](Rank& own) {
    const int rank = tutti_group_rank(own.group);
    Threads threads;
    threads.count = 2;
    const tutti_parallel parallel = threads.parallel();
    REQUIRE(tutti_group_set_parallel(own.group, &parallel) == TUTTI_OK);
    std::vector<int> given(400001), got(given.size());
    for (size_t i = 0; i < given.size(); ++i) given[i] = rank + 2 * static_cast<int>(i);
    const size_t bytes = given.size() * sizeof(int);
    REQUIRE(tutti_send(own.group, 1 - rank, 5, given.data(), bytes) == TUTTI_OK);
    REQUIRE(threads.runs == 1);
    tutti_request* request = nullptr;
    REQUIRE(tutti_irecv(own.group, 1 - rank, 5, got.data(), bytes, nullptr, &request) == TUTTI_OK);
    complete(request);
    REQUIRE(threads.runs == 2);
    for (size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == 1 - rank + 2 * static_cast<int>(i));
  });
}

// A buffer that is lent is copied in parts when it is withdrawn: the other rank comes late.
TEST(Parallel, ALentBufferIsGivenBack) {
  const Directory directory;
  in_processes(2, directory.path, [](Rank& own) {
    constexpr size_t count = 250007, bytes = count * sizeof(int);
    const int rank = tutti_group_rank(own.group);
    Threads threads;
    threads.count = 2;
    const tutti_parallel parallel = threads.parallel();
    REQUIRE(tutti_group_set_parallel(own.group, &parallel) == TUTTI_OK);
    auto* const data = static_cast<int*>(tutti_alloc(bytes));
    REQUIRE(data != nullptr);
    for (size_t i = 0; i < count; ++i) data[i] = rank == 0 ? static_cast<int>(i) : -1;
    tutti_request* request = nullptr;
    if (rank == 0) {
      REQUIRE(tutti_ibcast(own.group, data, bytes, 0, &request) == TUTTI_OK);
      REQUIRE(threads.runs == 0);
      complete(request);
      REQUIRE(threads.runs > 0);
      std::fill_n(data, count, -2);
      REQUIRE(tutti_barrier(own.group) == TUTTI_OK);
    } else {
      REQUIRE(tutti_barrier(own.group) == TUTTI_OK);
      REQUIRE(tutti_ibcast(own.group, data, bytes, 0, &request) == TUTTI_OK);
      complete(request);
      for (size_t i = 0; i < count; ++i) REQUIRE(data[i] == static_cast<int>(i));
    }
    tutti_free(data);
  });
}

TEST(Parallel, ShortDataIsNotSplit) {
  const Directory directory;
  in_processes(2, directory.path, [](Rank& own) {
    Threads threads;
    threads.count = 7;
    const tutti_parallel parallel = threads.parallel();
    REQUIRE(tutti_group_set_parallel(own.group, &parallel) == TUTTI_OK);
    for (const size_t count : {size_t{1}, size_t{33}, size_t{20000}}) use_all(own, count);
    REQUIRE(threads.runs == 0);
  });
}

TEST(Parallel, WrongArguments) {
  const Directory directory;
  in_processes(1, directory.path, [](Rank& own) {
    Threads threads;
    tutti_parallel parallel = threads.parallel();
    REQUIRE(tutti_group_set_parallel(nullptr, &parallel) == TUTTI_INVALID_ARGUMENT);
    REQUIRE(tutti_group_set_parallel(own.group, nullptr) == TUTTI_INVALID_ARGUMENT);
    parallel.run = nullptr;
    REQUIRE(tutti_group_set_parallel(own.group, &parallel) == TUTTI_INVALID_ARGUMENT);
    parallel = threads.parallel();
    parallel.threads = nullptr;
    REQUIRE(tutti_group_set_parallel(own.group, &parallel) == TUTTI_INVALID_ARGUMENT);
  });
}

}  // namespace
