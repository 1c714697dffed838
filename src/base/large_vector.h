// A vector for large pieces of work that is soon over. It takes them from the system and gives them
// back. The allocator would keep them for this process, and would from then on keep large pieces of
// the program's own, too (the thresholds of glibc's malloc grow with what is freed).
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace tutti {

// Pieces of memory from the system. New pages cost more than most of what is done with them, so
// pieces that are given back are used again while work is under way. Any thread may call these.
class LargePieces {
 public:
  static constexpr size_t least = size_t{64} << 10;  // bytes; smaller ones are the allocator's

  // Work that takes and gives back many pieces. When the last of such work ends, the process keeps
  // at most `kept` bytes.
  class Work {
   public:
    Work();
    ~Work();
    Work(const Work&) = delete;
  };
  static constexpr size_t kept = size_t{1} << 20;

  // At least so many bytes, of any content. Throws std::bad_alloc.
  static void* take(size_t bytes);
  static void give_back(void* piece, size_t bytes);
  // The bytes that wait for use.
  static size_t free_bytes();
};

template <class Value>
class LargeAllocator {
 public:
  using value_type = Value;

  LargeAllocator() = default;
  template <class Other>
  LargeAllocator(const LargeAllocator<Other>&) {}

  Value* allocate(size_t count) {
    const size_t bytes = count * sizeof(Value);
    void* const memory =
        bytes < LargePieces::least ? ::operator new(bytes) : LargePieces::take(bytes);
    return static_cast<Value*>(memory);
  }
  void deallocate(Value* memory, size_t count) {
    const size_t bytes = count * sizeof(Value);
    if (bytes < LargePieces::least)
      ::operator delete(memory);
    else
      LargePieces::give_back(memory, bytes);
  }

  bool operator==(const LargeAllocator&) const { return true; }
};

template <class Value>
using LargeVector = std::vector<Value, LargeAllocator<Value>>;

}  // namespace tutti
