#include "shm/process_heap.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "shm/heap_pieces.h"
#include "shm/segment.h"

namespace tutti::shm {
namespace {

// The heap that memory is taken from, and the addresses that were handed out.
class ProcessHeap {
 public:
  ProcessHeap() {
    using Preloaded = Heap*();
    if (auto* const preloaded = reinterpret_cast<Preloaded*>(dlsym(RTLD_DEFAULT, "tutti_heap")))
      heap_ = preloaded();
    if (heap_ != nullptr) return;
    try {
      heap_ = new Heap;
      pieces_ = std::make_unique<HeapPieces>(*heap_);
    } catch (const Error& error) {
      log_line(LogLevel::info, "no memory that other ranks reach: %s", error.what());
    }
  }

  Heap* heap() const { return heap_; }
  bool of_malloc() const { return heap_ != nullptr && heap_->shared() && pieces_ == nullptr; }

  void* take(size_t bytes, size_t alignment) {
    if (heap_ == nullptr || !heap_->shared() || alignment > page_size) return nullptr;
    if (pieces_ != nullptr) return pieces_->take(bytes);
    void* address = nullptr;
    if (posix_memalign(&address, std::max(alignment, usual_alignment), bytes) != 0) return nullptr;
    if (!heap_->holds(address)) {
      free(address);
      return nullptr;
    }
    try {
      const std::lock_guard<std::mutex> lock(mutex_);
      taken_.insert(address);
    } catch (...) {
      free(address);
      throw;
    }
    return address;
  }

  bool give(void* address) {
    if (heap_ == nullptr || !heap_->holds(address)) return false;
    if (pieces_ != nullptr) return pieces_->give(address);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (taken_.erase(address) == 0) return false;  // the host's, by the same malloc
    }
    free(address);
    return true;
  }

 private:
  Heap* heap_ = nullptr;
  std::unique_ptr<HeapPieces> pieces_;  // null where malloc serves
  std::mutex mutex_;
  std::set<void*> taken_;
};

std::atomic<ProcessHeap*> made_heap{nullptr};

}  // namespace

Heap* process_heap() {
  static ProcessHeap& made = *new ProcessHeap;
  made_heap = &made;
  return made.heap();
}

bool malloc_is_shared() {
  const ProcessHeap* const here = made_heap;
  return here != nullptr && here->of_malloc();
}

void* take_memory(size_t bytes, size_t alignment) noexcept {
  ProcessHeap* const here = made_heap;
  try {
    return here != nullptr ? here->take(bytes, alignment) : nullptr;
  } catch (...) {  // no memory for the record of what was handed out
    return nullptr;
  }
}

bool give_memory(void* address) {
  ProcessHeap* const here = made_heap;
  return here != nullptr && address != nullptr && here->give(address);
}

bool has_process_heap() { return made_heap != nullptr; }

}  // namespace tutti::shm
