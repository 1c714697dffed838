// malloc and related functions for programs under `tutti-run --shared-heap`: memory comes from the
// shared heap, or else from the C library.
//
// The C library and the dynamic linker get their own allocations (locks of streams, tables of
// threads) from the C library: in a child of fork they write to them before any handler can give
// the child its copy of the heap. A call is theirs if the caller's address is in one of these
// libraries. The address of a block tells which of the two allocators it came from, so any caller
// may free any block.
//
// The first call may come before any constructor has run, and making the heap may call malloc
// again: static data here needs no constructor, and calls that come meanwhile go to the C library.
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include <iterator>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "heap/arenas.h"
#include "shm/heap.h"

#define TUTTI_ENTRY extern "C" __attribute__((visibility("default")))

extern "C" {
void* __libc_malloc(size_t bytes) noexcept;
void* __libc_calloc(size_t count, size_t bytes) noexcept;
void* __libc_realloc(void* address, size_t bytes) noexcept;
void* __libc_memalign(size_t alignment, size_t bytes) noexcept;
void __libc_free(void* address) noexcept;
}

namespace tutti::heap {
namespace {

struct Range {
  uintptr_t begin = 0;
  uintptr_t bytes = 0;
  bool holds(const void* address) const {
    return reinterpret_cast<uintptr_t>(address) - begin < bytes;
  }
};

enum class State : int { unset, starting, on, off };

// Constant once the state is on.
constinit Range heap_range;
constinit shm::Heap* heap = nullptr;
constinit Range library_ranges[4];  // the C library and the dynamic linker; unused ones are empty
using UsableSize = size_t (*)(void*);
constinit UsableSize usable_size_of_next = nullptr;

constinit std::atomic<State> state{State::unset};
constinit thread_local bool has_arena = false;

bool is_library(const char* path) {
  const char* const slash = strrchr(path, '/');
  const char* const name = slash != nullptr ? slash + 1 : path;
  for (const char* start : {"libc.so", "libc-", "ld-", "ld.so", "libpthread", "libdl"})
    if (strncmp(name, start, strlen(start)) == 0) return true;
  return false;
}

int note_library(dl_phdr_info* object, size_t, void* data) {
  if (object->dlpi_name == nullptr || !is_library(object->dlpi_name)) return 0;
  Range range{UINTPTR_MAX, 0};
  uintptr_t end = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    range.begin = std::min<uintptr_t>(range.begin, object->dlpi_addr + part.p_vaddr);
    end = std::max<uintptr_t>(end, object->dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  if (end == 0) return 0;
  range.bytes = end - range.begin;
  size_t& count = *static_cast<size_t*>(data);
  if (count < std::size(library_ranges)) library_ranges[count++] = range;
  return 0;
}

// Runs in the first call of a process.
void start() {
  State expected = State::unset;
  if (!state.compare_exchange_strong(expected, State::starting)) return;
  const int error = errno;
  size_t count = 0;
  dl_iterate_phdr(note_library, &count);
  std::sort(std::begin(library_ranges), std::end(library_ranges),
            [](auto a, auto b) { return a.bytes > b.bytes; });
  usable_size_of_next = reinterpret_cast<UsableSize>(dlsym(RTLD_NEXT, "malloc_usable_size"));
  heap = count > 0 ? make_arenas() : nullptr;
  if (heap != nullptr) heap_range = {reinterpret_cast<uintptr_t>(heap->base()), heap->bytes()};
  state = heap != nullptr ? State::on : State::off;
  errno = error;
}

// Runs before other libraries' constructors, so that the handlers of fork are registered early.
__attribute__((constructor(101))) void start_early() { start(); }

bool for_library(const void* caller) {
  for (const Range& range : library_ranges)
    if (range.holds(caller)) return true;
  return false;
}

__attribute__((noinline)) bool prepare_thread() {
  if (state == State::unset) start();
  if (state != State::on) return false;
  has_arena = true;
  join_arena();
  return true;
}

// True if this caller gets memory from the heap.
inline bool serves(const void* caller) {
  if (!has_arena && !prepare_thread()) [[unlikely]]
    return false;
  return !for_library(caller);
}

// Returns a block of jemalloc's if it is in the heap; else frees it and returns null. While a
// thread ends, jemalloc may return blocks outside the heap.
inline void* in_heap(void* address) {
  if (heap_range.holds(address)) [[likely]]
    return address;
  if (address != nullptr) tutti_jemalloc_free(address);
  return nullptr;
}

bool power_of_two(size_t value) { return value != 0 && (value & (value - 1)) == 0; }

void* aligned(size_t alignment, size_t bytes, const void* caller) {
  if (power_of_two(alignment) && serves(caller))
    if (void* const address = in_heap(tutti_jemalloc_memalign(alignment, bytes))) return address;
  return __libc_memalign(alignment, bytes);
}

// Moves a block of jemalloc's to the C library's memory, because the heap is full or the thread is
// ending.
void* leave_heap(void* address, size_t kept, size_t bytes) {
  void* const elsewhere = __libc_malloc(bytes);
  if (elsewhere == nullptr) return nullptr;
  memcpy(elsewhere, address, std::min(kept, bytes));
  tutti_jemalloc_free(address);
  return elsewhere;
}

void* resize(void* address, size_t bytes, const void* caller) {
  if (address == nullptr) {
    if (serves(caller))
      if (void* const made = in_heap(tutti_jemalloc_malloc(bytes))) return made;
    return __libc_malloc(bytes);
  }
  if (!heap_range.holds(address)) return __libc_realloc(address, bytes);
  if (bytes == 0) {  // as in the C library
    tutti_jemalloc_free(address);
    return nullptr;
  }
  if (!has_arena) prepare_thread();
  const size_t had = tutti_jemalloc_malloc_usable_size(address);
  void* const moved = tutti_jemalloc_realloc(address, bytes);
  if (heap_range.holds(moved)) [[likely]]
    return moved;
  return moved == nullptr ? leave_heap(address, had, bytes) : leave_heap(moved, bytes, bytes);
}

}  // namespace
}  // namespace tutti::heap

using namespace tutti::heap;

TUTTI_ENTRY void* malloc(size_t bytes) noexcept {
  if (serves(__builtin_return_address(0))) [[likely]]
    if (void* const address = in_heap(tutti_jemalloc_malloc(bytes))) [[likely]]
      return address;
  return __libc_malloc(bytes);
}

TUTTI_ENTRY void* calloc(size_t count, size_t bytes) noexcept {
  if (serves(__builtin_return_address(0))) [[likely]]
    if (void* const address = in_heap(tutti_jemalloc_calloc(count, bytes))) [[likely]]
      return address;
  return __libc_calloc(count, bytes);
}

TUTTI_ENTRY void free(void* address) noexcept {
  if (heap_range.holds(address)) [[likely]]
    tutti_jemalloc_free(address);
  else
    __libc_free(address);
}

TUTTI_ENTRY void* realloc(void* address, size_t bytes) noexcept {
  return resize(address, bytes, __builtin_return_address(0));
}

TUTTI_ENTRY void* reallocarray(void* address, size_t count, size_t bytes) noexcept {
  size_t product;
  if (__builtin_mul_overflow(count, bytes, &product)) {
    errno = ENOMEM;
    return nullptr;
  }
  return resize(address, product, __builtin_return_address(0));
}

TUTTI_ENTRY void* memalign(size_t alignment, size_t bytes) noexcept {
  return aligned(alignment, bytes, __builtin_return_address(0));
}

TUTTI_ENTRY void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  return aligned(alignment, bytes, __builtin_return_address(0));
}

TUTTI_ENTRY int posix_memalign(void** address, size_t alignment, size_t bytes) noexcept {
  if (!power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  const int error = errno;
  void* const made = aligned(alignment, bytes, __builtin_return_address(0));
  errno = error;
  if (made == nullptr) return ENOMEM;
  *address = made;
  return 0;
}

TUTTI_ENTRY void* valloc(size_t bytes) noexcept {
  return aligned(static_cast<size_t>(sysconf(_SC_PAGESIZE)), bytes, __builtin_return_address(0));
}

TUTTI_ENTRY void* pvalloc(size_t bytes) noexcept {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (bytes > SIZE_MAX - page) {
    errno = ENOMEM;
    return nullptr;
  }
  return aligned(page, (bytes + page - 1) / page * page, __builtin_return_address(0));
}

TUTTI_ENTRY size_t malloc_usable_size(void* address) noexcept {
  if (heap_range.holds(address)) return tutti_jemalloc_malloc_usable_size(address);
  return usable_size_of_next != nullptr ? usable_size_of_next(address) : 0;
}

// The heap that malloc uses, for the interposer of the same installation; null if there is none.
TUTTI_ENTRY tutti::shm::Heap* tutti_heap() {
  start();
  return heap;
}
