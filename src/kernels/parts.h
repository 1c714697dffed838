// Long copies and reductions in parts, which several threads of a client execute
// (tutti_group_set_parallel).
//
// A part begins at a multiple of the element and of a page, and an element's result depends on its
// operands alone. So results have the same bits, however many threads there are. Parts do not wait
// for each other, so one thread may also execute all of them.
//
// A Parallel is constant, and outlives the calls that use it. A Parts is a value of one thread.
#pragma once

#include <algorithm>
#include <cstddef>

namespace tutti::kernels {

// The client's threads; tutti_parallel has the rules of both functions.
struct Parallel {
  int (*threads)(void* context) = nullptr;
  void (*run)(void* context, int parts, void (*part)(void* argument, int number),
              void* argument) = nullptr;
  void* context = nullptr;
};

// A shorter part takes less time than a thread may need to wake up.
inline constexpr size_t least_part = size_t{256} << 10;

class Parts {
 public:
  // The parts of `bytes` bytes, as many as the calling thread has threads now. One part if
  // `parallel` is null.
  Parts(const Parallel* parallel, size_t bytes, size_t element = 1)
      : parallel_(parallel), bytes_(bytes), length_(bytes) {
    if (parallel != nullptr && bytes >= 2 * least_part) cut(element);
  }

  int count() const { return count_; }

  // Calls work(number, at, length) for each part, where `at` is its first byte, and returns when
  // all calls have returned. They throw nothing.
  template <class Work>
  void run(const Work& work) const {
    if (count_ == 1) return work(0, size_t{0}, bytes_);
    run_by_threads(
        [](const void* its, int number, size_t at, size_t length) noexcept {
          (*static_cast<const Work*>(its))(number, at, length);
        },
        &work);
  }

 private:
  using Function = void (*)(const void* work, int number, size_t at, size_t length) noexcept;
  void cut(size_t element);
  void run_by_threads(Function function, const void* work) const;

  const Parallel* parallel_;
  size_t bytes_;
  size_t length_;  // the bytes of each part but the last
  int count_ = 1;
};

// The bytes that all threads together copy or combine at once, of `bytes` bytes that are handed
// over piece by piece. A thread alone takes `alone`. Several take an eighth at least, because all
// of them must have a core before they can go on to the next piece.
inline size_t bytes_at_once(const Parallel* parallel, size_t bytes, size_t alone) {
  const auto parts = static_cast<size_t>(Parts(parallel, bytes).count());
  if (parts == 1) return alone;
  return std::max(parts, bytes / 8 / least_part) * least_part;
}

// Copies with plain stores. The regions are the same or disjoint.
void copy_in_parts(const Parallel* parallel, void* dst, const void* src, size_t bytes);

}  // namespace tutti::kernels
