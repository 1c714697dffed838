// Pieces of a heap: an allocator for few and large requests. A piece is a run of whole pages; the
// first free run that is large enough serves a request.
//
// It serves MPI_Alloc_mem and similar calls if no allocator is on top of the heap. The lists of
// pieces are private memory of this process. Any thread may call; the heap must outlive the object.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "shm/heap.h"

namespace tutti::shm {

class HeapPieces {
 public:
  explicit HeapPieces(Heap& heap) : heap_(heap) {}

  // At least `bytes` bytes, not initialised, aligned to a page; null if the heap has no room.
  void* take(size_t bytes);
  // Gives a piece back. False if `address` is not a piece that is taken.
  bool give(void* address);
  bool are_all_free();
  // Pieces that are given back keep their memory for the next request, up to this many bytes; then
  // the memory of all free pieces goes back to the system.
  static constexpr size_t kept_bytes = size_t{64} << 20;

 private:
  using Runs = std::map<std::byte*, size_t>;
  void add_free(std::byte* address, size_t bytes);

  Heap& heap_;
  std::mutex mutex_;
  Runs taken_;
  Runs free_;         // no two of them adjoin
  size_t given_ = 0;  // bytes given back since memory last went back to the system
};

}  // namespace tutti::shm
