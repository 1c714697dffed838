// Pieces of a heap for whoever asks for few and large ones: whole pages, the first free run that is
// large enough.
//
// For MPI_Alloc_mem and the like where no allocator sits on the heap. The book of pieces is private
// memory of this process. Any thread; the heap must outlive it.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "shm/heap.h"

namespace tutti::shm {

class HeapPieces {
 public:
  explicit HeapPieces(Heap& heap) : heap_(heap) {}

  // At least so many bytes, not set to anything, aligned to a page; null where the heap has no
  // room.
  void* take(size_t bytes);
  // True where it was taken from here and not given back before.
  bool give(void* address);
  // What was given back is kept with its pages for the next to take, up to so many bytes; then all
  // of it goes back to the system.
  static constexpr size_t kept_bytes = size_t{64} << 20;

 private:
  using Runs = std::map<std::byte*, size_t>;
  void add_free(std::byte* address, size_t bytes);

  Heap& heap_;
  std::mutex mutex_;
  Runs taken_;
  Runs free_;         // no two of them adjoin
  size_t given_ = 0;  // bytes since the system had them last
};

}  // namespace tutti::shm
