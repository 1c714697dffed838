// Memory of the messages of transfers between nodes. Messages that have begun need some to end, so
// a spare buffer is there from the beginning. One thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace tutti::rma {

// Bytes, not initialised. Their address stays when the object is moved.
class MessageBuffer {
 public:
  MessageBuffer() = default;
  MessageBuffer(MessageBuffer&& other) noexcept { *this = std::move(other); }
  MessageBuffer& operator=(MessageBuffer&& other) noexcept {
    memory_ = std::move(other.memory_);
    bytes_ = std::exchange(other.bytes_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }
  // Makes room for so many bytes; if it was too short, its contents are lost.
  void resize(size_t bytes) {
    if (bytes > capacity_) {
      memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
      capacity_ = bytes;
    }
    bytes_ = bytes;
  }
  std::byte* data() { return memory_.get(); }
  size_t size() const { return bytes_; }
  size_t capacity() const { return capacity_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  size_t bytes_ = 0, capacity_ = 0;
};

// Keeps buffers that are free, because fresh memory costs page faults. Up to a number of bytes.
class MessageBuffers {
 public:
  // The spare buffer has so many bytes. Throws bad_alloc.
  MessageBuffers(size_t most_bytes, size_t spare_bytes)
      : most_bytes_(most_bytes), spare_bytes_(spare_bytes) {
    spare_.resize(spare_bytes);
  }

  // A buffer of at least a byte, and at most those of the spare one. Has no memory (data() is null)
  // if memory has run out and the spare one is in use.
  MessageBuffer take(size_t bytes) noexcept {
    try {
      MessageBuffer buffer;
      if (!free_.empty()) {
        buffer = std::move(free_.back());
        free_.pop_back();
        bytes_ -= buffer.capacity();
      }
      buffer.resize(bytes);
      return buffer;
    } catch (const std::bad_alloc&) {
      MessageBuffer buffer = std::move(spare_);
      if (buffer.data() != nullptr) buffer.resize(bytes);
      return buffer;
    }
  }
  void give(MessageBuffer buffer) noexcept {
    if (spare_.capacity() < spare_bytes_ && buffer.capacity() >= spare_bytes_)
      std::swap(spare_, buffer);
    if (buffer.capacity() == 0 || bytes_ + buffer.capacity() > most_bytes_) return;
    try {
      const size_t bytes = buffer.capacity();
      free_.push_back(std::move(buffer));
      bytes_ += bytes;
    } catch (const std::bad_alloc&) {  // it is not kept
    }
  }

 private:
  const size_t most_bytes_, spare_bytes_;
  MessageBuffer spare_;  // no memory while it is in use
  std::vector<MessageBuffer> free_;
  size_t bytes_ = 0;  // bytes of free_
};

}  // namespace tutti::rma
