#include "shm/process_heap.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "shm/heap_pieces.h"
#include "shm/segment.h"

namespace tutti::shm {
namespace {

// Returns the heap of libtutti-heap.so; null where it is not preloaded.
Heap* heap_of_malloc() {
  using Preloaded = Heap*();
  auto* const preloaded = reinterpret_cast<Preloaded*>(dlsym(RTLD_DEFAULT, "tutti_heap"));
  return preloaded != nullptr ? preloaded() : nullptr;
}

// The heap that memory is taken from, and the addresses that were handed out.
class ProcessHeap {
 public:
  Heap* make() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (std::exchange(made_, true)) return heap_;
    heap_ = heap_of_malloc();
    if (heap_ != nullptr || (is_under_memcheck() && options().reach != ReachChoice::direct))
      return heap_;
    try {
      own_ = std::make_unique<Heap>();
      pieces_ = std::make_unique<HeapPieces>(*own_);
      heap_ = own_.get();
    } catch (const Error& error) {
      log_line(LogLevel::info, "no memory that other ranks reach: %s", error.what());
    }
    return heap_;
  }

  void end_unused() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (own_ == nullptr || !pieces_->are_all_free()) return;
    heap_ = nullptr;
    pieces_.reset();
    own_.reset();
    made_ = false;
  }

  const Heap* kept() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return heap_ != nullptr ? heap_ : heap_of_malloc();
  }

  bool of_malloc() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return heap_ != nullptr && heap_->shared() && pieces_ == nullptr;
  }

  void* take(size_t bytes, size_t alignment) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (heap_ == nullptr || !heap_->shared() || alignment > page_size) return nullptr;
    if (pieces_ != nullptr) return pieces_->take(bytes);
    void* address = nullptr;
    if (posix_memalign(&address, std::max(alignment, usual_alignment), bytes) != 0) return nullptr;
    if (!heap_->holds(address)) {
      free(address);
      return nullptr;
    }
    try {
      taken_.insert(address);
    } catch (...) {
      free(address);
      throw;
    }
    return address;
  }

  bool give(void* address) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (heap_ == nullptr || !heap_->holds(address)) return false;
    if (pieces_ != nullptr) return pieces_->give(address);
    if (taken_.erase(address) == 0) return false;  // the host's, by the same malloc
    free(address);
    return true;
  }

 private:
  static bool is_under_memcheck() {
    const char* const preloaded = getenv("LD_PRELOAD");
    return preloaded != nullptr && strstr(preloaded, "vgpreload_memcheck") != nullptr;
  }

  std::mutex mutex_;  // guards all below
  bool made_ = false;
  Heap* heap_ = nullptr;
  std::unique_ptr<Heap> own_;           // null where malloc serves
  std::unique_ptr<HeapPieces> pieces_;  // the pieces of own_
  std::set<void*> taken_;
};

std::atomic<ProcessHeap*> made_heap{nullptr};

}  // namespace

Heap* process_heap() {
  static ProcessHeap& made = *new ProcessHeap;
  made_heap = &made;
  return made.make();
}

void end_unused_heap() {
  if (ProcessHeap* const here = made_heap) here->end_unused();
}

const Heap* kept_heap() {
  ProcessHeap* const here = made_heap;
  return here != nullptr ? here->kept() : heap_of_malloc();
}

bool malloc_is_shared() {
  ProcessHeap* const here = made_heap;
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
