#include "shm/heap_pieces.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "shm/segment.h"

namespace tutti::shm {

void* HeapPieces::take(size_t bytes) {
  if (bytes > heap_.bytes()) return nullptr;
  const size_t length = std::max<size_t>(1, (bytes + page_size - 1) / page_size) * page_size;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(free_.begin(), free_.end(),
                                  [&](const auto& run) { return run.second >= length; });
  std::byte* address = nullptr;
  if (found == free_.end()) {
    address = heap_.take(length, page_size);
  } else {
    address = found->first;
    const size_t rest = found->second - length;
    free_.erase(found);
    if (rest > 0) free_.emplace(address + length, rest);
  }
  if (address != nullptr) taken_.emplace(address, length);
  return address;
}

bool HeapPieces::give(void* address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = taken_.find(static_cast<std::byte*>(address));
  if (found == taken_.end()) return false;
  add_free(found->first, found->second);
  given_ += found->second;
  taken_.erase(found);
  if (given_ > kept_bytes) {
    for (const auto& [begin, bytes] : free_) heap_.forget(begin, bytes);
    given_ = 0;
  }
  return true;
}

bool HeapPieces::are_all_free() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return taken_.empty();
}

void HeapPieces::add_free(std::byte* address, size_t bytes) {
  const auto behind = free_.find(address + bytes);
  if (behind != free_.end()) {
    bytes += behind->second;
    free_.erase(behind);
  }
  const auto next = free_.lower_bound(address);
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == address) {
      before->second += bytes;
      return;
    }
  }
  free_.emplace(address, bytes);
}

}  // namespace tutti::shm
