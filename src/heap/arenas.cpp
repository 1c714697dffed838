#include "heap/arenas.h"

#include <jemalloc/jemalloc.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>

#include "base/log.h"
#include "shm/heap.h"

// jemalloc makes one arena, for its own use; the threads' arenas are made below.
extern "C" {
extern __attribute__((visibility("hidden"))) const char* tutti_jemalloc_malloc_conf;
const char* tutti_jemalloc_malloc_conf = "narenas:1";
}

namespace tutti::heap {
namespace {

constexpr unsigned most_arenas = 8;

alignas(shm::Heap) std::byte storage[sizeof(shm::Heap)];
constinit shm::Heap* heap = nullptr;
constinit unsigned arenas[most_arenas] = {};
constinit unsigned arena_count = 0;
constinit std::atomic<unsigned> next_arena{0};

// `keep` tells jemalloc to keep its addresses, so it only asks the hooks to free their memory. Thus
// every part of the heap is taken once, and jemalloc may merge and split parts as it likes.
void* take(extent_hooks_t*, void* wanted, size_t bytes, size_t alignment, bool* zero, bool* commit,
           unsigned) {
  if (wanted != nullptr) return nullptr;
  void* const address = heap->take(bytes, alignment);
  if (address != nullptr) *zero = *commit = true;
  return address;
}
bool keep(extent_hooks_t*, void*, size_t, bool, unsigned) { return true; }
bool forget(extent_hooks_t*, void* address, size_t, size_t offset, size_t length, unsigned) {
  return !heap->forget(static_cast<std::byte*>(address) + offset, length);
}
bool split(extent_hooks_t*, void*, size_t, size_t, size_t, bool, unsigned) { return false; }
bool merge(extent_hooks_t*, void*, size_t, void*, size_t, bool, unsigned) { return false; }

extent_hooks_t hooks = {take, keep, nullptr, nullptr, nullptr, nullptr, forget, split, merge};

// The hooks are set after the arena is made: hooks that it is made with would also supply the
// memory of its own data structures.
bool make_arena(unsigned* arena) {
  size_t bytes = sizeof *arena;
  if (tutti_jemalloc_mallctl("arenas.create", arena, &bytes, nullptr, 0) != 0) return false;
  char name[48];
  snprintf(name, sizeof name, "arena.%u.extent_hooks", *arena);
  extent_hooks_t* own = &hooks;
  return tutti_jemalloc_mallctl(name, nullptr, nullptr, &own, sizeof own) == 0;
}

}  // namespace

shm::Heap* make_arenas() {
  cpu_set_t cores;
  const unsigned wanted = sched_getaffinity(0, sizeof cores, &cores) == 0
                              ? static_cast<unsigned>(CPU_COUNT(&cores))
                              : most_arenas;
  try {
    heap = new (storage) shm::Heap;
    while (arena_count < std::clamp(wanted, 1u, most_arenas) && make_arena(&arenas[arena_count]))
      ++arena_count;
    if (arena_count == 0) heap = nullptr;
  } catch (const std::exception& error) {
    log_line(LogLevel::info, "malloc stays the C library's: %s", error.what());
  }
  return heap;
}

void join_arena() {
  unsigned arena = arenas[next_arena++ % arena_count];
  tutti_jemalloc_mallctl("thread.arena", nullptr, nullptr, &arena, sizeof arena);
}

}  // namespace tutti::heap
