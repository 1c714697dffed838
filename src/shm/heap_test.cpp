#include "shm/heap.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "shm/heap_pieces.h"

namespace tutti::shm {
namespace {

constexpr size_t page = 4096;
constexpr size_t small = size_t{256} << 20;

// Runs `function` in a child. Returns its exit code, or -1 if a signal ended it.
template <class Function>
int in_a_child(Function function) {
  const pid_t child = fork();
  if (child == 0) _exit(function());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The number of pages of the heap's file that hold memory.
size_t resident(const Heap& heap) {
  std::vector<unsigned char> pages(heap.bytes() / page);
  if (mincore(heap.base(), heap.bytes(), pages.data()) != 0) return 0;
  size_t count = 0;
  for (const unsigned char entry : pages) count += entry & 1u;
  return count;
}

TEST(Heap, ReservesWithoutUsingMemory) {
  Heap heap;
  EXPECT_GE(heap.bytes(), Heap::least_bytes);
  EXPECT_TRUE(heap.shared());
  EXPECT_TRUE(heap.holds(heap.base()));
  EXPECT_FALSE(heap.holds(heap.base() + heap.bytes()));
  EXPECT_FALSE(heap.holds(&heap));
}

size_t file_bytes(const Heap& heap) {
  struct stat status;
  return fstat(heap.location().descriptor, &status) == 0 ? static_cast<size_t>(status.st_size) : 0;
}

// Issue 33: core dumps, valgrind and mlockall touch all memory that a process may access.
TEST(Heap, NobodyCanTouchWhatIsNotHandedOut) {
  Heap heap;
  EXPECT_LE(file_bytes(heap), size_t{16} << 20);
  constexpr size_t bytes = size_t{100} << 20;
  std::byte* const part = heap.take(bytes, page);
  ASSERT_NE(part, nullptr);
  part[bytes - 1] = std::byte{1};
  EXPECT_LE(file_bytes(heap), size_t{160} << 20);
  const PeerHeap peer(heap.location());
  std::byte* const more = heap.take(size_t{300} << 20, page);
  ASSERT_NE(more, nullptr);
  peer.base()[more - heap.base() + (size_t{300} << 20) - 1] = std::byte{2};
  EXPECT_EQ(more[(size_t{300} << 20) - 1], std::byte{2});
  const size_t beyond = heap.bytes() - 1;
  // Tools read memory by the system, which ignores what a process may access.
  const int memory = open("/proc/self/mem", O_RDONLY);
  char byte;
  for (const std::byte* base : {heap.base(), peer.base()})
    EXPECT_NE(pread(memory, &byte, 1, reinterpret_cast<off_t>(base + beyond)), 1);
  close(memory);
}

TEST(Heap, IsFullAtALimitOfTheFileSizeThatComesLater) {
  EXPECT_EQ(in_a_child([] {
              Heap heap(small);
              const rlimit limit = {size_t{8} << 20, RLIM_INFINITY};
              setrlimit(RLIMIT_FSIZE, &limit);
              if (heap.take(size_t{32} << 20, page) != nullptr) return 1;
              std::byte* const part = heap.take(size_t{2} << 20, page);
              if (part == nullptr) return 2;
              part[0] = std::byte{1};
              return 0;
            }),
            0);
}

TEST(Heap, IsFullIfTheProgramHasClosedItsFile) {
  EXPECT_EQ(in_a_child([] {
              Heap heap(small);
              close(heap.location().descriptor);
              FILE* const other = tmpfile();
              dup2(fileno(other), heap.location().descriptor);
              if (heap.take(size_t{32} << 20, page) != nullptr) return 1;
              struct stat status;
              return fstat(fileno(other), &status) == 0 && status.st_size == 0 ? 0 : 2;
            }),
            0);
}

TEST(Heap, HandsOutAlignedPartsOnce) {
  Heap heap(small);
  std::byte* const one = heap.take(1, 1);
  std::byte* const two = heap.take(page + 1, size_t{1} << 21);
  std::byte* const three = heap.take(page, page);
  ASSERT_TRUE(one != nullptr && two != nullptr && three != nullptr);
  EXPECT_GE(two, one + page);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(two) % (size_t{1} << 21), 0u);
  EXPECT_EQ(three, two + 2 * page);
  EXPECT_EQ(heap.take(heap.bytes(), page), nullptr);
  EXPECT_EQ(heap.take(SIZE_MAX, page), nullptr);
  EXPECT_NE(heap.take(page, page), nullptr);
}

TEST(Heap, IsTakenFromByManyThreads) {
  Heap heap(small);
  constexpr int threads = 4, parts = 1000;
  std::vector<std::thread> team;
  for (int i = 0; i < threads; ++i)
    team.emplace_back([&, i] {
      for (int k = 0; k < parts; ++k) {
        std::byte* const part = heap.take(page, page);
        if (part == nullptr || part[7] != std::byte{0}) abort();
        part[7] = static_cast<std::byte>(i + 1);
      }
    });
  for (std::thread& thread : team) thread.join();
}

TEST(Heap, GivesMemoryBack) {
  Heap heap(small);
  const size_t before = resident(heap);
  constexpr size_t bytes = size_t{8} << 20;
  std::byte* const part = heap.take(bytes, page);
  std::memset(part, 1, bytes);
  EXPECT_GE(resident(heap), before + bytes / page);
  ASSERT_TRUE(heap.forget(part, bytes));
  EXPECT_LE(resident(heap), before);
  EXPECT_EQ(part[bytes - 1], std::byte{0});
}

TEST(Heap, IsOneMemoryForPeers) {
  Heap heap(small);
  std::byte* const part = heap.take(page, page);
  const Heap::Location location = heap.location();
  strcpy(reinterpret_cast<char*>(part), "from the owner");
  const PeerHeap peer(location);
  std::byte* const there = peer.base() + (part - heap.base());
  EXPECT_NE(there, part);
  EXPECT_STREQ(reinterpret_cast<char*>(there), "from the owner");
  strcpy(reinterpret_cast<char*>(there), "from the peer");
  EXPECT_STREQ(reinterpret_cast<char*>(part), "from the peer");
}

TEST(Heap, RefusesAHeapOfAnotherIdentity) {
  Heap heap(small);
  Heap::Location location = heap.location();
  location.identity[0] ^= 1;
  EXPECT_THROW(PeerHeap{location}, Error);
  location = heap.location();
  location.bytes *= 2;
  EXPECT_THROW(PeerHeap{location}, Error);
  location = heap.location();
  location.descriptor = 99999;
  EXPECT_THROW(PeerHeap{location}, Error);
  EXPECT_THROW(PeerHeap{Heap::Location{}}, Error);
}

TEST(Heap, SaysWhenLimitsLeaveNoRoom) {
  EXPECT_EQ(in_a_child([] {
              const rlimit none = {Heap::least_bytes - 1, RLIM_INFINITY};
              setrlimit(RLIMIT_FSIZE, &none);
              try {
                const Heap heap;
              } catch (const Error& error) {
                return error.code() == Code::unavailable &&
                               strstr(error.what(), "RLIMIT_FSIZE") != nullptr
                           ? 0
                           : 1;
              }
              return 2;
            }),
            0);
}

#ifndef __SANITIZE_ADDRESS__  // its shadow memory is larger than any limit
#ifndef __SANITIZE_THREAD__
TEST(Heap, TakesItsPartOfALimitedAddressSpace) {
  EXPECT_EQ(in_a_child([] {
              const rlimit limit = {size_t{2} << 30, RLIM_INFINITY};
              setrlimit(RLIMIT_AS, &limit);
              const Heap heap;
              if (heap.bytes() > limit.rlim_cur / 4 || heap.bytes() < limit.rlim_cur / 16) return 1;
              std::vector<PeerHeap> peers;
              try {
                for (;;) peers.emplace_back(heap.location());
              } catch (const Error& error) {
                return !peers.empty() && peers.size() < 4 &&
                               strstr(error.what(), "RLIMIT_AS") != nullptr
                           ? 0
                           : 2;
              }
            }),
            0);
}
#endif
#endif

TEST(HeapFork, GivesTheChildACopyOfItsOwn) {
  Heap heap(small);
  auto* const number = reinterpret_cast<std::atomic<int>*>(heap.take(page, page));
  auto* const far = reinterpret_cast<char*>(heap.take(size_t{16} << 20, page)) + (size_t{15} << 20);
  *number = 1;
  strcpy(far, "kept");
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    char word;
    const bool told = read(ready[0], &word, 1) == 1;  // the parent has written since
    const bool own =
        *number == 1 && strcmp(far, "kept") == 0 && !heap.shared() && heap.location().bytes == 0;
    *number = 3;
    strcpy(far, "the child's");
    char* const more = reinterpret_cast<char*>(heap.take(page, page));
    const bool zero = more != nullptr && more[5] == 0;
    _exit(told && own && zero && heap.forget(reinterpret_cast<std::byte*>(number), page) &&
                  *number == 0
              ? 0
              : 1);
  }
  *number = 2;
  strcpy(far, "the parent's");
  ASSERT_EQ(write(ready[1], "x", 1), 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(*number, 2);
  EXPECT_STREQ(far, "the parent's");
  EXPECT_TRUE(heap.shared());
  close(ready[0]);
  close(ready[1]);
}

TEST(HeapFork, CopiesWhereTheProgramHasClosedTheDescriptor) {
  Heap heap(small);
  auto* const number = reinterpret_cast<std::atomic<int>*>(heap.take(page, page));
  *number = 1;
  close(heap.location().descriptor);
  EXPECT_EQ(in_a_child([&] { return number->fetch_add(1) == 1 ? 0 : 1; }), 0);
  EXPECT_EQ(*number, 1);
}

TEST(HeapFork, LetsChildrenForkAndLeavesPeersOut) {
  Heap heap(small);
  const PeerHeap peer(heap.location());
  auto* const number = reinterpret_cast<std::atomic<int>*>(heap.take(page, page));
  EXPECT_EQ(in_a_child([&] {
              *number = 5;
              if (in_a_child([&] { return number->fetch_add(1); }) != 5) return 1;
              unsigned char resident_page;
              return *number == 5 && mincore(peer.base(), page, &resident_page) != 0 ? 0 : 2;
            }),
            0);
  EXPECT_EQ(*number, 0);
}

// Parent and child would run on one stack.
#ifndef __SANITIZE_ADDRESS__  // it does not support a switch of stacks
#ifndef __SANITIZE_THREAD__
TEST(HeapForkDeathTest, RefusesAForkOnAStackThatLiesInTheHeap) {
  const auto fork_there = [] {
    Heap heap(small);
    constexpr size_t stack_bytes = size_t{1} << 20;
    ucontext_t caller, coroutine;
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = heap.take(stack_bytes, page);
    coroutine.uc_stack.ss_size = stack_bytes;
    coroutine.uc_link = &caller;
    makecontext(&coroutine, [] { fork(); }, 0);
    swapcontext(&caller, &coroutine);
  };
  EXPECT_EXIT(fork_there(), testing::KilledBySignal(SIGABRT), "stack .* lies in the shared heap");
}
#endif
#endif

TEST(HeapPieces, KeepTheirPagesUpToALimit) {
  Heap heap(small);
  HeapPieces pieces(heap);
  const size_t before = resident(heap);
  constexpr size_t bytes = HeapPieces::kept_bytes / 4;
  void* parts[5];
  for (void*& part : parts) std::memset(part = pieces.take(bytes), 1, bytes);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(pieces.give(parts[i]));
  EXPECT_GE(resident(heap), before + 5 * (bytes / page));
  EXPECT_TRUE(pieces.give(parts[4]));
  EXPECT_LE(resident(heap), before + 1);
}

TEST(HeapPieces, AreReusedAndMerged) {
  Heap heap(small);
  HeapPieces pieces(heap);
  constexpr size_t most = size_t{96} << 20;
  void* const one = pieces.take(1);
  void* const two = pieces.take(most);
  void* const three = pieces.take(most);
  ASSERT_TRUE(one != nullptr && two != nullptr && three != nullptr);
  EXPECT_EQ(pieces.take(most), nullptr);
  static_cast<char*>(two)[most - 1] = 1;
  EXPECT_TRUE(pieces.give(two));
  EXPECT_FALSE(pieces.give(two));
  EXPECT_FALSE(pieces.give(&heap));
  EXPECT_TRUE(pieces.give(three));
  EXPECT_TRUE(pieces.give(one));
  char* const all = static_cast<char*>(pieces.take(2 * most + page));
  ASSERT_EQ(all, one);
  EXPECT_EQ(all[page + most - 1], 0);
  EXPECT_EQ(pieces.take(SIZE_MAX), nullptr);
}

}  // namespace
}  // namespace tutti::shm
