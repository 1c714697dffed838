// Arenas: jemalloc, whose memory comes from one shared heap.
//
// Made once a process, by the first call of malloc, and never undone. jemalloc's own book-keeping
// stays in private memory: a child of fork then has a copy of it from the start, and a peer that
// writes wildly does not reach it. Any thread. Source: jemalloc's extent hooks (jemalloc(3),
// arena.<i>.extent_hooks).
#pragma once

#include <cstddef>

namespace tutti::shm {
class Heap;
}

namespace tutti::heap {

// The shared heap; null where it cannot be made, the reason then being said at log level info.
shm::Heap* make_arenas();

// Gives this thread its arena; to be called once by every thread before it allocates.
void join_arena();

}  // namespace tutti::heap

// jemalloc by the names that the build gives it.
extern "C" {
void* tutti_jemalloc_malloc(size_t bytes) noexcept;
void* tutti_jemalloc_calloc(size_t count, size_t bytes) noexcept;
void* tutti_jemalloc_realloc(void* address, size_t bytes) noexcept;
void* tutti_jemalloc_memalign(size_t alignment, size_t bytes) noexcept;
void tutti_jemalloc_free(void* address) noexcept;
size_t tutti_jemalloc_malloc_usable_size(void* address) noexcept;
int tutti_jemalloc_mallctl(const char* name, void* old_value, size_t* old_bytes, void* new_value,
                           size_t bytes) noexcept;
}
