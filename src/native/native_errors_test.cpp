// The C API's answers to wrong calls: the status, and a line that names the mistake.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "native/test_ranks.h"

using tutti::test::spawn;

namespace {

TEST(NativeErrors, MismatchedCallsAreNamed) {
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

TEST(NativeErrors, DifferentCollectivesAreNamed) {
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

TEST(NativeErrors, BadArguments) {
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

TEST(NativeErrors, DifferentCallsWithPartsAreNamed) {
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

TEST(NativeErrors, NullArguments) {
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
TEST(NativeErrors, OverlappingParts) {
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

TEST(NativeErrors, ValuesOutOfRange) {
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
