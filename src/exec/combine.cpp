#include "exec/combine.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace tutti::exec {
namespace {

constexpr size_t strip_bytes = 4096;

void fold_left(const Combine& how, std::byte* dst, const std::byte* const* sources, int count,
               size_t bytes) {
  alignas(64) std::byte scratch[strip_bytes];
  const bool read_late = std::find(sources + 2, sources + count, dst) != sources + count;
  const size_t per_strip = std::max<size_t>(strip_bytes / how.element, 1);
  const size_t elements = bytes / how.element;
  for (size_t first = 0; first < elements; first += per_strip) {
    const size_t n = std::min(per_strip, elements - first);
    const size_t at = first * how.element;
    // If a later fold of this strip reads dst, partial results must not overwrite dst before.
    std::byte* partial = read_late ? scratch : dst + at;
    how.kernel(partial, sources[0] + at, sources[1] + at, n);
    for (int i = 2; i < count; ++i) {
      how.kernel(i + 1 == count ? dst + at : partial, partial, sources[i] + at, n);
    }
  }
}

void fold_right(const Combine& how, std::byte* dst, const std::byte* const* sources, int count,
                size_t bytes) {
  const bool read_late = std::find(sources, sources + count - 1, dst) != sources + count - 1;
  std::vector<std::byte> scratch(read_late ? bytes : 0);
  std::byte* partial = read_late ? scratch.data() : dst;
  if (partial != sources[count - 1]) std::memcpy(partial, sources[count - 1], bytes);
  for (int i = count - 2; i >= 0; --i)
    how.apply(how.context, sources[i], partial, bytes / how.element);
  if (read_late) std::memcpy(dst, partial, bytes);
}

}  // namespace

void combine(const Combine& how, void* dst, const void* const* sources, int count, size_t bytes) {
  auto* to = static_cast<std::byte*>(dst);
  auto* from = reinterpret_cast<const std::byte* const*>(sources);
  if (how.kernel != nullptr && count == 2) {
    how.kernel(dst, sources[0], sources[1], bytes / how.element);
  } else if (how.kernel != nullptr) {
    fold_left(how, to, from, count, bytes);
  } else {
    fold_right(how, to, from, count, bytes);
  }
}

}  // namespace tutti::exec
