// The C API's answers to wrong calls: the status, and a line that names the mistake.
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "api/test_ranks.h"

using tutti::test::spawn;

namespace {

TEST(ApiErrors, MismatchedCallsAreNamed) {
  std::atomic<int> mismatches{0};
  spawn(2, [&](tutti_group* group, int rank) {
    int64_t data[2] = {1, 2};
    const tutti_status status =
        rank == 0 ? tutti_bcast(group, data, 8, 0) : tutti_bcast(group, data, 16, 0);
    if (status == TUTTI_OK) return;  // a root that does not wait cannot notice the mismatch
    EXPECT_EQ(status, TUTTI_MISMATCH);
    EXPECT_NE(std::string(tutti_error_message()).find("bcast of 16 bytes, root 0"),
              std::string::npos)
        << tutti_error_message();
    EXPECT_NE(std::string(tutti_error_message()).find("bcast of 8 bytes, root 0"),
              std::string::npos)
        << tutti_error_message();
    EXPECT_EQ(tutti_barrier(group), TUTTI_MISMATCH);
    ++mismatches;
  });
  EXPECT_EQ(mismatches, 1);
}

TEST(ApiErrors, DifferentCollectivesAreNamed) {
  std::atomic<int> mismatches{0};
  spawn(2, [&](tutti_group* group, int rank) {
    std::vector<int64_t> data(1000), out(1000);
    const tutti_status status =
        rank == 0 ? tutti_allreduce(group, data.data(), out.data(), 1000, TUTTI_INT64, TUTTI_SUM)
                  : tutti_barrier(group);
    if (status == TUTTI_MISMATCH) ++mismatches;
  });
  EXPECT_GE(mismatches, 1);
}

// Reductions of the same length, of other types or by other operations.
TEST(ApiErrors, DifferentReductionsAreNamed) {
  using Call = tutti_status (*)(tutti_group*, const void*, void*, size_t, tutti_type, tutti_op);
  const Call calls[] = {tutti_allreduce, tutti_reduce_scatter, tutti_scan, tutti_exscan,
                        [](auto* group, auto* in, auto* out, auto count, auto type, auto op) {
                          return tutti_reduce(group, in, out, count, type, op, 2);
                        }};
  const std::pair<tutti_type, tutti_op> others[] = {{TUTTI_INT32, TUTTI_SUM},
                                                    {TUTTI_FLOAT32, TUTTI_MAX}};
  const char* const names[] = {"sum of int32", "maximum of float32"};
  for (const Call& call : calls)
    for (const size_t count : {size_t{3}, size_t{30000}})
      for (size_t other = 0; other < 2; ++other) {
        std::atomic<int> mismatches{0};
        spawn(3, [&](tutti_group* group, int rank) {
          const std::vector<int32_t> in(3 * count);
          std::vector<int32_t> out(3 * count);
          const auto [type, op] = rank == 0 ? others[other] : std::pair{TUTTI_FLOAT32, TUTTI_SUM};
          if (call(group, in.data(), out.data(), count, type, op) == TUTTI_OK) return;
          const std::string told = tutti_error_message();
          const bool from_second = told.find("third rank") != std::string::npos;
          EXPECT_TRUE(from_second || told.find(names[other]) != std::string::npos) << told;
          EXPECT_TRUE(from_second || told.find("sum of float32") != std::string::npos) << told;
          EXPECT_NE(told.find("bytes"), std::string::npos) << told;
          if (&call == &calls[4]) {
            EXPECT_NE(told.find("root 2"), std::string::npos) << told;
          }
          ++mismatches;
        });
        EXPECT_GE(mismatches, 1) << &call - calls << " of " << count;
      }
}

TEST(ApiErrors, BadArguments) {
  tutti_team* team = nullptr;
  EXPECT_EQ(tutti_team_create(0, &team), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_team_create(2, nullptr), TUTTI_INVALID_ARGUMENT);
  ASSERT_EQ(tutti_team_create(1, &team), TUTTI_OK);
  tutti_group* group = nullptr;
  EXPECT_EQ(tutti_team_join(team, 1, &group), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_team_join(nullptr, 0, &group), TUTTI_INVALID_ARGUMENT);
  ASSERT_EQ(tutti_team_join(team, 0, &group), TUTTI_OK);
  tutti_group* again = nullptr;
  EXPECT_EQ(tutti_team_join(team, 0, &again), TUTTI_INVALID_ARGUMENT);
  double data[4] = {};
  EXPECT_EQ(tutti_barrier(nullptr), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_bcast(group, nullptr, 8, 0), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_bcast(group, data, 8, 1), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_bcast(group, data, 8, -1), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_allreduce(group, data, data + 1, 3, TUTTI_FLOAT64, TUTTI_SUM),
            TUTTI_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tutti_error_message()).find("overlap"), std::string::npos);
  EXPECT_EQ(tutti_allreduce(group, data, data, 3, TUTTI_FLOAT64, TUTTI_BAND),
            TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_allreduce(group, data, data, 3, static_cast<tutti_type>(99), TUTTI_SUM),
            TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_allreduce(group, data, data, SIZE_MAX / 4, TUTTI_FLOAT64, TUTTI_SUM),
            TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_allreduce(group, nullptr, data, 1, TUTTI_FLOAT64, TUTTI_SUM),
            TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_allreduce(group, nullptr, nullptr, 0, TUTTI_FLOAT64, TUTTI_SUM), TUTTI_OK);
  tutti_group_free(group);
  tutti_team_free(team);
}

struct Pair {
  const char* first;   // as the message names the call of rank 0
  const char* second;  // and that of rank 1
  std::function<tutti_status(tutti_group*, void*, void*)> calls[2];
};

const Pair pairs[] = {
    {"gather of 8 bytes, root 0",
     "scatter of 8 bytes, root 0",
     {[](auto* group, void* in, void* out) { return tutti_gather(group, in, out, 8, 0); },
      [](auto* group, void* in, void* out) { return tutti_scatter(group, in, out, 8, 0); }}},
    {"gather of 8 bytes, root 0",
     "gather of 8 bytes, root 1",
     {[](auto* group, void* in, void* out) { return tutti_gather(group, in, out, 8, 0); },
      [](auto* group, void* in, void* out) { return tutti_gather(group, in, out, 8, 1); }}},
    {"alltoall of 8 bytes",
     "alltoall of 16 bytes",
     {[](auto* group, void* in, void* out) { return tutti_alltoall(group, in, out, 8); },
      [](auto* group, void* in, void* out) { return tutti_alltoall(group, in, out, 16); }}},
    {"allgather of 800 bytes",
     "alltoall of 800 bytes",
     {[](auto* group, void* in, void* out) { return tutti_allgather(group, in, out, 800); },
      [](auto* group, void* in, void* out) { return tutti_alltoall(group, in, out, 800); }}},
    {"reduce_scatter of 16 bytes",
     "allreduce of 16 bytes",
     {[](auto* group, void* in, void* out) {
        return tutti_reduce_scatter(group, in, out, 2, TUTTI_INT64, TUTTI_SUM);
      },
      [](auto* group, void* in, void* out) {
        return tutti_allreduce(group, in, out, 2, TUTTI_INT64, TUTTI_SUM);
      }}},
    {"scan of 8 bytes",
     "exscan of 8 bytes",
     {[](auto* group, void* in, void* out) {
        return tutti_scan(group, in, out, 1, TUTTI_INT64, TUTTI_SUM);
      },
      [](auto* group, void* in, void* out) {
        return tutti_exscan(group, in, out, 1, TUTTI_INT64, TUTTI_SUM);
      }}},
};

TEST(ApiErrors, DifferentCallsWithPartsAreNamed) {
  for (const Pair& pair : pairs) {
    std::atomic<int> mismatches{0};
    spawn(2, [&](tutti_group* group, int rank) {
      std::vector<int64_t> in(500), out(500);
      if (pair.calls[rank](group, in.data(), out.data()) == TUTTI_OK)
        return;  // a rank that does not wait cannot notice the mismatch
      const std::string message = tutti_error_message();
      EXPECT_NE(message.find(pair.first), std::string::npos) << message;
      EXPECT_NE(message.find(pair.second), std::string::npos) << message;
      EXPECT_EQ(tutti_scan(group, in.data(), out.data(), 1, TUTTI_INT64, TUTTI_SUM),
                TUTTI_MISMATCH);
      ++mismatches;
    });
    EXPECT_GE(mismatches, 1) << pair.first << " and " << pair.second;
  }
}

void expect_refusal(tutti_status status, const char* words) {
  EXPECT_EQ(status, TUTTI_INVALID_ARGUMENT) << words;
  const std::string message = tutti_error_message();
  EXPECT_NE(message.find(words), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

// Runs `body` at both of two ranks, then a call that succeeds only if `body` has changed nothing.
void with_two(const std::function<void(tutti_group*, int rank)>& body) {
  spawn(2, [&](tutti_group* group, int rank) {
    body(group, rank);
    const int64_t mine = rank + 1;
    int64_t all[2] = {};
    ASSERT_EQ(tutti_allgather(group, &mine, all, sizeof mine), TUTTI_OK) << tutti_error_message();
    EXPECT_TRUE(all[0] == 1 && all[1] == 2);
  });
}

TEST(ApiErrors, NullArguments) {
  with_two([](tutti_group* group, int rank) {
    double in[4] = {}, out[4] = {};
    expect_refusal(tutti_gather(nullptr, in, out, 8, 0), "group is null");
    expect_refusal(tutti_scatter(nullptr, in, out, 8, 0), "group is null");
    expect_refusal(tutti_allgather(nullptr, in, out, 8), "group is null");
    expect_refusal(tutti_alltoall(nullptr, in, out, 8), "group is null");
    expect_refusal(tutti_reduce_scatter(nullptr, in, out, 1, TUTTI_FLOAT64, TUTTI_SUM),
                   "group is null");
    expect_refusal(tutti_scan(nullptr, in, out, 1, TUTTI_FLOAT64, TUTTI_SUM), "group is null");
    expect_refusal(tutti_exscan(nullptr, in, out, 1, TUTTI_FLOAT64, TUTTI_SUM), "group is null");
    expect_refusal(tutti_gather(group, nullptr, out, 8, 0), "in is null");
    expect_refusal(tutti_gather(group, in, nullptr, 8, rank), "out is null");
    expect_refusal(tutti_scatter(group, nullptr, out, 8, rank), "in is null");
    expect_refusal(tutti_scatter(group, in, nullptr, 8, 0), "out is null");
    expect_refusal(tutti_allgather(group, nullptr, out, 8), "in is null");
    expect_refusal(tutti_allgather(group, in, nullptr, 8), "out is null");
    expect_refusal(tutti_alltoall(group, nullptr, out, 8), "in is null");
    expect_refusal(tutti_alltoall(group, in, nullptr, 8), "out is null");
    expect_refusal(tutti_reduce_scatter(group, nullptr, out, 1, TUTTI_FLOAT64, TUTTI_SUM),
                   "in is null");
    expect_refusal(tutti_reduce_scatter(group, in, nullptr, 1, TUTTI_FLOAT64, TUTTI_SUM),
                   "out is null");
    expect_refusal(tutti_scan(group, nullptr, out, 1, TUTTI_FLOAT64, TUTTI_SUM), "in is null");
    expect_refusal(tutti_scan(group, in, nullptr, 1, TUTTI_FLOAT64, TUTTI_SUM), "out is null");
    expect_refusal(tutti_exscan(group, nullptr, out, 1, TUTTI_FLOAT64, TUTTI_SUM), "in is null");
    if (rank == 1)
      expect_refusal(tutti_exscan(group, in, nullptr, 1, TUTTI_FLOAT64, TUTTI_SUM), "out is null");
  });
}

// Buffers that are in place for one collective, or at one rank, overlap for another.
TEST(ApiErrors, OverlappingParts) {
  with_two([](tutti_group* group, int rank) {
    double data[8] = {};
    double* const others = data + (rank == 0 ? 2 : 0);  // the other rank's part, of two elements
    expect_refusal(tutti_gather(group, others, data, 16, rank),
                   "pass separate buffers, or in = out + rank * part_bytes");
    expect_refusal(tutti_scatter(group, data, others, 16, rank),
                   "pass separate buffers, or out = in + rank * part_bytes");
    expect_refusal(tutti_allgather(group, others, data, 16), "overlap");
    expect_refusal(tutti_alltoall(group, data, data + 1, 16),
                   "pass separate buffers, or out = in for");
    expect_refusal(tutti_alltoall(group, data + 3, data, 16), "overlap");
    expect_refusal(tutti_reduce_scatter(group, data, data + 2, 2, TUTTI_FLOAT64, TUTTI_SUM),
                   "overlap");
    expect_refusal(tutti_scan(group, data, data + 1, 2, TUTTI_FLOAT64, TUTTI_SUM), "overlap");
    if (rank == 1)
      expect_refusal(tutti_exscan(group, data + 1, data, 2, TUTTI_FLOAT64, TUTTI_SUM), "overlap");
  });
}

TEST(ApiErrors, ValuesOutOfRange) {
  with_two([](tutti_group* group, int) {
    double in[4] = {}, out[4] = {};
    const size_t half = SIZE_MAX / 2 + 1;  // two parts of this many bytes wrap to 0
    expect_refusal(tutti_gather(group, in, out, 8, 2), "root 2 is out of range; ranks are 0 to 1");
    expect_refusal(tutti_gather(group, in, out, 8, -1), "root -1 is out of range");
    expect_refusal(tutti_scatter(group, in, out, 8, 2), "root 2 is out of range");
    expect_refusal(tutti_scatter(group, in, out, 8, -1), "root -1 is out of range");
    for (int root : {0, 1}) {
      expect_refusal(tutti_gather(group, in, out, half, root),
                     "length of a buffer is out of range");
      expect_refusal(tutti_scatter(group, in, out, half, root),
                     "length of a buffer is out of range");
    }
    expect_refusal(tutti_allgather(group, in, out, SIZE_MAX / 4 + 1),
                   "length of a buffer is out of range");
    expect_refusal(tutti_alltoall(group, in, out, half), "length of a buffer is out of range");
    expect_refusal(
        tutti_reduce_scatter(group, in, out, SIZE_MAX / 16 + 1, TUTTI_FLOAT64, TUTTI_SUM),
        "out of range");
    expect_refusal(tutti_scan(group, in, out, SIZE_MAX / 8 + 1, TUTTI_FLOAT64, TUTTI_SUM),
                   "out of range");
    expect_refusal(tutti_exscan(group, in, out, SIZE_MAX / 8 + 1, TUTTI_FLOAT64, TUTTI_SUM),
                   "out of range");
    expect_refusal(tutti_reduce_scatter(group, in, out, 1, TUTTI_FLOAT64, TUTTI_BOR),
                   "need an integer type");
    expect_refusal(tutti_scan(group, in, out, 1, static_cast<tutti_type>(99), TUTTI_SUM),
                   "unknown type");
    expect_refusal(tutti_exscan(group, in, out, 1, TUTTI_FLOAT64, static_cast<tutti_op>(-1)),
                   "unknown operation");
  });
}

void add_doubles(void* folded, const void* in, size_t count, void*) {
  for (size_t i = 0; i < count; ++i)
    *static_cast<double*>(folded) += static_cast<const double*>(in)[i];
}

TEST(ApiErrors, ReductionsOfArrays) {
  with_two([](tutti_group* group, int rank) {
    double in[4] = {}, out[1] = {};
    const auto reduce = [&](const void* local, size_t count, tutti_type type, tutti_op op, int root,
                            void* to) {
      return tutti_reduce_array(group, local, count, 0, type, op, root, to);
    };
    expect_refusal(tutti_reduce_array(nullptr, in, 4, 0, TUTTI_FLOAT64, TUTTI_SUM, 0, out),
                   "group is null");
    expect_refusal(reduce(nullptr, 4, TUTTI_FLOAT64, TUTTI_SUM, 0, out), "local is null");
    expect_refusal(reduce(in, 4, TUTTI_FLOAT64, TUTTI_SUM, rank, nullptr), "out is null");
    expect_refusal(reduce(in, 4, TUTTI_FLOAT64, TUTTI_SUM, TUTTI_ALL, nullptr), "out is null");
    expect_refusal(reduce(in, 4, TUTTI_FLOAT64, TUTTI_SUM, 2, out), "root 2 is out of range");
    expect_refusal(reduce(in, 4, TUTTI_FLOAT64, TUTTI_SUM, -2, out), "root -2 is out of range");
    expect_refusal(reduce(in, SIZE_MAX / 8 + 1, TUTTI_FLOAT64, TUTTI_SUM, 0, out), "out of range");
    expect_refusal(reduce(in, 4, TUTTI_FLOAT64, TUTTI_BAND, 0, out), "need an integer type");
    expect_refusal(reduce(in, 1, TUTTI_COMPLEX128, TUTTI_MAX, 0, out), "complex numbers");
    expect_refusal(reduce(in, 1, static_cast<tutti_type>(99), TUTTI_SUM, 0, out), "unknown type");
    expect_refusal(tutti_fold(nullptr, 4, TUTTI_FLOAT64, TUTTI_SUM, out), "in is null");
    expect_refusal(tutti_fold(in, 4, TUTTI_FLOAT64, TUTTI_SUM, nullptr), "out is null");
    expect_refusal(tutti_fold(in, 4, TUTTI_FLOAT64, TUTTI_LXOR, out), "need an integer type");
  });
}

TEST(ApiErrors, ReductionsOfArraysByUsersOperations) {
  with_two([](tutti_group* group, int rank) {
    double in[4] = {}, out[1] = {};
    const tutti_user_op good = {add_doubles, nullptr, sizeof(double), 1, nullptr};
    const auto refused = [&](const tutti_user_op* op, int root, void* to, const char* words) {
      expect_refusal(tutti_reduce_array_by(group, in, 4, 0, op, root, to), words);
    };
    refused(nullptr, 0, out, "op is null");
    refused(&good, 2, out, "root 2 is out of range");
    refused(&good, rank, nullptr, "out is null");
    tutti_user_op bad = good;
    bad.fold = nullptr;
    refused(&bad, 0, out, "op->fold is null");
    bad = good;
    bad.element_bytes = 0;
    refused(&bad, 0, out, "op->element_bytes is 0");
    bad.element_bytes = SIZE_MAX;
    refused(&bad, 0, out, "TUTTI_SHM_BYTES_PER_RANK");
    bad.element_bytes = size_t{1} << 30;
    refused(&bad, 0, out, "TUTTI_SHM_BYTES_PER_RANK");
    expect_refusal(tutti_reduce_array_by(group, nullptr, 4, 0, &good, 0, out), "local is null");
    expect_refusal(tutti_reduce_array_by(nullptr, in, 4, 0, &good, 0, out), "group is null");
    // An array without elements is no mistake of the caller's: the group may be used on.
    const tutti_status status = tutti_reduce_array_by(group, nullptr, 0, 0, &good, 0, out);
    EXPECT_EQ(status, rank == 0 ? TUTTI_EMPTY : TUTTI_OK);
    const std::string message = tutti_error_message();
    EXPECT_EQ(message.find("no rank has elements") == std::string::npos, rank != 0) << message;
  });
}

TEST(ApiErrors, RanksWithDifferentBlocks) {
  spawn(3, [](tutti_group* group, int rank) {
    const double in[4] = {};
    double out = 0;
    const tutti_user_op op = {add_doubles, nullptr, sizeof(double), 0, nullptr};
    const size_t block = rank == 1 ? 3 : 2;
    EXPECT_EQ(tutti_reduce_array_by(group, in, 4, block, &op, 0, &out), TUTTI_MISMATCH);
    EXPECT_NE(std::string(tutti_error_message()).find("blocks of 2 to 3 elements"),
              std::string::npos)
        << tutti_error_message();
  });
}

TEST(Memory, IsAlignedAndCanBeGivenBack) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{1000}, size_t{1} << 20}) {
    auto* const memory = static_cast<char*>(tutti_alloc(bytes));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    for (size_t i = 0; i < bytes; ++i) memory[i] = 1;
    tutti_free(memory);
  }
  tutti_free(nullptr);
}

}  // namespace
