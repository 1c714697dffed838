// A vector of plain values that holds the first few of them inside itself, so that a short one
// takes no memory from the allocator. One thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace tutti {

template <class Value, uint32_t inside>
class ShortVector {
  static_assert(std::is_trivially_copyable_v<Value> && inside > 0);

 public:
  using value_type = Value;

  ShortVector() = default;
  ShortVector(std::initializer_list<Value> values) { append(values.begin(), values.size()); }
  ShortVector(const std::vector<Value>& values) { append(values.data(), values.size()); }
  ShortVector(const ShortVector& other) { append(other.data(), other.size()); }
  ShortVector(ShortVector&& other) noexcept { take(other); }
  ShortVector& operator=(ShortVector other) noexcept {
    give_back();
    take(other);
    return *this;
  }
  ~ShortVector() { give_back(); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Value* data() { return capacity_ > inside ? outside() : reinterpret_cast<Value*>(memory_); }
  const Value* data() const { return const_cast<ShortVector*>(this)->data(); }
  Value* begin() { return data(); }
  Value* end() { return data() + size_; }
  const Value* begin() const { return data(); }
  const Value* end() const { return data() + size_; }
  Value& operator[](size_t i) { return data()[i]; }
  const Value& operator[](size_t i) const { return data()[i]; }
  Value& front() { return *data(); }
  const Value& front() const { return *data(); }
  const Value& back() const { return data()[size_ - 1]; }

  void reserve(size_t count) {
    if (count <= capacity_) return;
    Value* const more = std::allocator<Value>().allocate(count);
    std::uninitialized_copy_n(data(), size_, more);
    give_back();
    new (memory_) Value*(more);
    capacity_ = static_cast<uint32_t>(count);
  }
  void push_back(Value value) {
    if (size_ == capacity_) reserve(2 * size_t{capacity_});
    new (data() + size_++) Value(value);
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void resize(size_t count) {
    reserve(count);
    while (size_ < count) push_back({});
    size_ = static_cast<uint32_t>(count);
  }

  bool operator==(const ShortVector& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  Value* outside() const { return *reinterpret_cast<Value* const*>(memory_); }
  void append(const Value* values, size_t count) {
    reserve(size_ + count);
    std::uninitialized_copy_n(values, count, end());
    size_ += static_cast<uint32_t>(count);
  }
  void give_back() {
    if (capacity_ > inside) std::allocator<Value>().deallocate(outside(), capacity_);
  }
  // Takes over the contents of `other`, which is empty afterwards. This vector must have no memory
  // from the allocator.
  void take(ShortVector& other) noexcept {
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, inside);
    std::memcpy(memory_, other.memory_, sizeof memory_);
  }

  uint32_t size_ = 0;
  uint32_t capacity_ = inside;
  // The values or, if there are more, a pointer to them.
  alignas(Value) alignas(
      Value*) std::byte memory_[std::max(inside * sizeof(Value), sizeof(Value*))];
};

}  // namespace tutti
