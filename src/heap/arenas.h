// Arenas: jemalloc with its memory from one shared heap.
//
// The first call of malloc makes the heap and its arenas, once per process; they live as long as
// the process. jemalloc's own data structures stay in private memory: a child of fork has its copy
// of them from the start, and wild writes of a peer cannot reach them. Any thread may call. Source:
// jemalloc's extent hooks (jemalloc(3), arena.<i>.extent_hooks).
#pragma once

#include <cstddef>

namespace tutti::shm {
class Heap;
}

namespace tutti::heap {

// Makes the shared heap; null if that fails, with the reason logged at level info.
shm::Heap* make_arenas();

// Gives this thread its arena. Every thread calls it once, after make_arenas has returned a heap
// and before it allocates.
void join_arena();

}  // namespace tutti::heap

// jemalloc's functions, by the names that the build gives them.
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
