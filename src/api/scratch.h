// Memory that a group keeps between calls. Internal to src/api; the group owns it, and the
// thread of the group uses it.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace tutti::api {

class Scratch {
 public:
  // Aligned for every type, in units of which callers divide the memory.
  static constexpr size_t alignment = 64;

  // At least `bytes` bytes, with unknown contents. Invalidates what was given before.
  std::byte* take(size_t bytes) {
    if (bytes > bytes_) {
      memory_.reset();
      bytes_ = 0;
      memory_.reset(new (std::align_val_t{alignment}) std::byte[bytes]);
      bytes_ = bytes;
    }
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const {
      operator delete[](memory, std::align_val_t{alignment});
    }
  };
  std::unique_ptr<std::byte[], Free> memory_;
  size_t bytes_ = 0;
};

}  // namespace tutti::api
