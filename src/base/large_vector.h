// A vector for large pieces of work that is soon over. It takes them from the system and gives them
// back at once. The allocator would keep them for this process, and would from then on keep large
// pieces of the program's own, too (the thresholds of glibc's malloc grow with what is freed).
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace tutti {

template <class Value>
class SystemAllocator {
 public:
  using value_type = Value;

  SystemAllocator() = default;
  template <class Other>
  SystemAllocator(const SystemAllocator<Other>&) {}

  Value* allocate(size_t count) {
    if (count * sizeof(Value) < large)
      return static_cast<Value*>(::operator new(count * sizeof(Value)));
    void* const memory = mmap(nullptr, count * sizeof(Value), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return static_cast<Value*>(memory);
  }
  void deallocate(Value* memory, size_t count) {
    if (count * sizeof(Value) < large)
      ::operator delete(memory);
    else
      munmap(memory, count * sizeof(Value));
  }

  bool operator==(const SystemAllocator&) const { return true; }

 private:
  static constexpr size_t large = 64 * 1024;
};

template <class Value>
using LargeVector = std::vector<Value, SystemAllocator<Value>>;

}  // namespace tutti
