#include "base/large_vector.h"

#include <sys/mman.h>

#include <bit>
#include <iterator>
#include <map>
#include <mutex>

namespace tutti {
namespace {

constexpr size_t huge_page = size_t{2} << 20;

// Sizes are powers of two, so that pieces fit again.
size_t size_of(size_t bytes) { return std::bit_ceil(bytes); }

struct Free {
  std::mutex mutex;
  std::multimap<size_t, void*> pieces;  // indexed by size
  size_t bytes = 0;
  int works = 0;

  void trim() {
    while (works == 0 && bytes > LargePieces::kept) {
      const auto largest = std::prev(pieces.end());
      munmap(largest->second, largest->first);
      bytes -= largest->first;
      pieces.erase(largest);
    }
  }
};

// Never destroyed: exit handlers may still communicate.
Free& free_pieces() {
  static Free& made = *new Free;
  return made;
}

}  // namespace

LargePieces::Work::Work() {
  Free& free = free_pieces();
  const std::lock_guard lock(free.mutex);
  ++free.works;
}

LargePieces::Work::~Work() {
  Free& free = free_pieces();
  const std::lock_guard lock(free.mutex);
  --free.works;
  free.trim();
}

void* LargePieces::take(size_t bytes) {
  const size_t size = size_of(bytes);
  Free& free = free_pieces();
  {
    const std::lock_guard lock(free.mutex);
    if (const auto found = free.pieces.find(size); found != free.pieces.end()) {
      void* const piece = found->second;
      free.pieces.erase(found);
      free.bytes -= size;
      return piece;
    }
  }
  void* const piece =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (piece == MAP_FAILED) throw std::bad_alloc();
  // Fewer page faults; where the system has no huge pages, nothing happens.
  if (size >= huge_page) madvise(piece, size, MADV_HUGEPAGE);
  return piece;
}

void LargePieces::give_back(void* piece, size_t bytes) {
  const size_t size = size_of(bytes);
  Free& free = free_pieces();
  const std::lock_guard lock(free.mutex);
  free.pieces.emplace(size, piece);
  free.bytes += size;
  free.trim();
}

size_t LargePieces::free_bytes() {
  Free& free = free_pieces();
  const std::lock_guard lock(free.mutex);
  return free.bytes;
}

}  // namespace tutti
