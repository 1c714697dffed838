#include "memory.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>

namespace {

size_t held = 0, at_begin = 0;

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  held += malloc_usable_size(memory);
  return memory;
}

void release(void* memory) {
  if (memory != nullptr) held -= malloc_usable_size(memory);
  std::free(memory);
}

// A row of /proc/self/status, such as "VmRSS:", in bytes.
size_t status(const char* row) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    size_t kibibytes = 0;
    if (word == row && file >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

}  // namespace

void* operator new(size_t bytes) { return counted(std::malloc(bytes)); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, size_t) noexcept { release(memory); }

// For types with a larger alignment, such as bound steps and known calls.
void* operator new(size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<size_t>(alignment);
  return counted(std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit));
}
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { release(memory); }

namespace tutti::bench {

size_t held_bytes() { return held; }
void begin_most() {
  std::ofstream("/proc/self/clear_refs") << "5\n";  // the peak is what is resident now
  at_begin = status("VmRSS:");
}
size_t most_more_bytes() { return std::max(status("VmHWM:"), at_begin) - at_begin; }

}  // namespace tutti::bench
