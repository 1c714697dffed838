// Compares the two tables in which a group looks up its calls with plain searches, and tests that
// calls which were made before allocate nothing.
#include "group/known_calls.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <new>
#include <random>

#include "group/test_functions.h"
#include "group/test_calls.h"
#include "group/range_table.h"

namespace {
thread_local uint64_t allocations = 0;  // this thread's allocations
}

// These replace the operators of the whole program, to count allocations.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes > 0 ? bytes : 1);
}
[[gnu::noinline]] void* operator new(size_t bytes) {
  if (void* const memory = operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void* operator new(size_t bytes, std::align_val_t alignment) {
  ++allocations;
  const auto unit = static_cast<size_t>(alignment);
  if (void* const memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit))
    return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace tutti::group::test {
namespace {

TEST(RangeTable, FindsWhatASearchFinds) {
  std::minstd_rand random(7);
  RangeTable<const int> table;
  const int values[8] = {};
  // The lower limits of the ranges; a range ends where the next one begins.
  const size_t limits[] = {0, 1, 49, 64, 1000, 4097, size_t{1} << 40};
  std::map<std::pair<uint64_t, size_t>, bool> noted;
  for (int i = 0; i < 20000; ++i) {
    const uint64_t key = random() % 40;
    const size_t bytes =
        random() % 3 == 0 ? random() % 8192 : limits[random() % std::size(limits)] + random() % 2;
    size_t range = std::size(limits) - 1;
    while (limits[range] > bytes) --range;
    const int* const expected = &values[(range + key) % 8];
    const int* const found = table.find(key, bytes);
    if (found != nullptr) {
      ASSERT_EQ(found, expected) << key << " " << bytes;
      continue;
    }
    const size_t high = range + 1 < std::size(limits) ? limits[range + 1] - 1 : SIZE_MAX;
    table.note(key, bytes, limits[range], high, expected);
    ASSERT_EQ(table.find(key, bytes), expected);
    noted[{key, bytes}] = true;
  }
  for (const auto& [call, unused] : noted) EXPECT_NE(table.find(call.first, call.second), nullptr);
  table.clear();
  for (const auto& [call, unused] : noted) EXPECT_EQ(table.find(call.first, call.second), nullptr);
}

TEST(RangeTable, IsBounded) {
  RangeTable<const int> table;
  const int value = 0;
  for (uint64_t key = 0; key < 100000; ++key) {
    ASSERT_EQ(table.find(key, 8), nullptr);
    table.note(key, 8, 0, 48, &value);
    ASSERT_EQ(table.find(key, 8), &value);
  }
}

TEST(KnownCalls, KeepWhatTheyHaveRoomFor) {
  KnownCalls calls;
  const exec::Start start;
  std::vector<CallKey> keys;
  for (int root = 0; root < 64; ++root)
    for (const uint64_t type : {0x4c00080bu, 0x4c00040au})
      keys.emplace_back(plan::Collective::bcast, root, type, 0, 1);
  for (const CallKey& key : keys) EXPECT_EQ(calls.find(key), nullptr);
  for (int round = 0; round < 2; ++round)
    for (const CallKey& key : keys) {
      exec::Operation operation;
      operation.bytes = key.collective_and_root;
      if (calls.find(key) == nullptr) calls.note({key, start, operation});
      ASSERT_NE(calls.find(key), nullptr);
      EXPECT_EQ(calls.find(key)->operation.bytes, key.collective_and_root);
    }
  size_t kept = 0;
  for (const CallKey& key : keys) kept += calls.find(key) != nullptr ? 1 : 0;
  EXPECT_GT(kept, keys.size() * 9 / 10);  // if three share two places, two replace each other
  calls.clear();
  for (const CallKey& key : keys) EXPECT_EQ(calls.find(key), nullptr);
}

// Calls that a program repeats in turn must not replace each other, whatever handles the host has.
TEST(KnownCalls, OfAProgramAllHavePlaces) {
  std::minstd_rand random(3);
  for (int program = 0; program < 300; ++program) {
    KnownCalls calls;
    const uint64_t types = 0x4c00080bu + (uint64_t{random()} << 20),
                   ops = 0x58000003u + (uint64_t{random()} << 18);
    std::vector<CallKey> keys{{plan::Collective::barrier, 0, 0, 0, 0}};
    for (int kind = 1; kind < 30; ++kind)
      keys.emplace_back(plan::Collective(kind % 6), kind % 3, types + 64 * (random() % 2), ops,
                        uint64_t{1} << kind / 3);
    for (const CallKey& key : keys)
      if (calls.find(key) == nullptr) calls.note({key, {}, {}});
    for (const CallKey& key : keys) ASSERT_NE(calls.find(key), nullptr) << "program " << program;
  }
}

// Entries move when the table grows, and their pointers into themselves are adjusted.
TEST(KnownCalls, HoldCopiesOfWhatTheyNeed) {
  KnownCalls calls;
  exec::BoundStep steps[KnownCall::most_steps + 1] = {};
  for (uint32_t i = 0; i < std::size(steps); ++i) steps[i].place = 10 + i;
  const exec::Combine combine = sum_of_doubles();
  exec::Operation operation;
  std::vector<CallKey> keys;
  for (int root = 0; root < 40; ++root) {
    keys.emplace_back(plan::Collective::reduce, root, 0x4c00080bu, 0x58000003u, 1);
    exec::Start start;
    start.steps = steps;
    start.step_count = static_cast<uint32_t>(root) % std::size(steps) + 1;
    operation.combine = root % 2 == 0 ? &combine : nullptr;
    calls.note({keys.back(), start, operation});
  }
  int found = 0;
  for (int root = 0; root < 40; ++root) {
    const KnownCall* const call = calls.find(keys[static_cast<size_t>(root)]);
    if (call == nullptr) continue;  // other calls have replaced it
    ++found;
    const uint32_t count = static_cast<uint32_t>(root) % std::size(steps) + 1;
    ASSERT_EQ(call->start.step_count, count);
    EXPECT_EQ(call->start.steps, count > KnownCall::most_steps ? steps : call->steps);
    for (uint32_t i = 0; i < count; ++i) EXPECT_EQ(call->start.steps[i].place, 10 + i);
    EXPECT_EQ(call->operation.combine, root % 2 == 0 ? &call->combine : nullptr);
    EXPECT_EQ(call->kernel(),
              root % 2 == 0 ? reinterpret_cast<const void*>(combine.kernel) : nullptr);
  }
  EXPECT_GT(found, 30);
}

Code one_call(Group& group, int which, std::vector<double>& in, std::vector<double>& out) {
  static const exec::Combine doubles = sum_of_doubles();
  static const exec::Combine integers = sum_of_integers();
  const int root = which % group.ranks();
  switch (which % 7) {
    case 0: return barrier(group);
    case 1: return bcast(group, in.data(), 8 << which % 10, root);
    case 2:
      return reduce(group, in.data(), out.data(), 1 + static_cast<size_t>(which % 60), doubles,
                    root);
    case 3:
      return allreduce(group, in.data(), out.data(), 1 + static_cast<size_t>(which % 600),
                       which % 2 != 0 ? doubles : integers);
    case 4: return gather(group, in.data(), out.data(), 8 << which % 8, root);
    case 5: return alltoall(group, in.data(), out.data(), 8);
    default: return scan(group, in.data(), out.data(), 3, doubles);
  }
}

TEST(KnownCalls, CallsMadeBeforeAllocateNothing) {
  with_groups(4, {}, {}, [](Group& group) {
    std::vector<double> in(4096, 1), out(4096);
    for (int round = 0; round < 3; ++round) {
      const uint64_t before = allocations;
      for (int which = 0; which < 420; ++which)
        ASSERT_EQ(one_call(group, which, in, out), Code::ok) << group.failure();
      if (round > 0) {
        EXPECT_EQ(allocations, before);
      }
    }
  });
}

}  // namespace
}  // namespace tutti::group::test
