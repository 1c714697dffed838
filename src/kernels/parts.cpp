#include "kernels/parts.h"

#include <cfenv>
#include <numeric>

#include "kernels/kernels.h"

namespace tutti::kernels {
namespace {

constexpr size_t page = 4096;

}  // namespace

void Parts::cut(size_t element) {
  const int threads = parallel_->threads(parallel_->context);
  const size_t parts = std::min(static_cast<size_t>(std::max(threads, 1)), bytes_ / least_part);
  const size_t unit = std::lcm(element, page);
  length_ = ((bytes_ + parts - 1) / parts + unit - 1) / unit * unit;
  count_ = static_cast<int>((bytes_ + length_ - 1) / length_);
}

// Rounding, and whether denormal numbers count as zero, are modes of a thread. All parts have those
// of the calling thread.
void Parts::run_by_threads(Function function, const void* work) const {
  struct Call {
    const Parts& parts;
    Function function;
    const void* work;
    std::fenv_t modes;
  } call{*this, function, work, {}};
  std::fegetenv(&call.modes);
  parallel_->run(
      parallel_->context, count_,
      [](void* argument, int number) {
        const auto& [parts, its_function, its_work, modes] = *static_cast<const Call*>(argument);
        const size_t at = static_cast<size_t>(number) * parts.length_;
        std::fenv_t own;
        std::fegetenv(&own);
        std::fesetenv(&modes);
        its_function(its_work, number, at, std::min(parts.length_, parts.bytes_ - at));
        std::fesetenv(&own);
      },
      &call);
}

void copy_in_parts(const Parallel* parallel, void* dst, const void* src, size_t bytes) {
  auto* const to = static_cast<std::byte*>(dst);
  const auto* const from = static_cast<const std::byte*>(src);
  Parts(parallel, bytes).run([&](int, size_t at, size_t length) {
    copy(to + at, from + at, length);
  });
}

}  // namespace tutti::kernels
