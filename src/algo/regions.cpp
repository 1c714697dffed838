#include "algo/regions.h"

#include <algorithm>

namespace tutti::algo {

using plan::Region;

void append(Regions& regions, const Region& region) {
  if (region.count == 0) return;
  if (!regions.empty()) {
    Region& last = regions.back();
    const int32_t step = region.first - last.last();
    const bool one_buffer = last.buffer == region.buffer && last.rank == region.rank;
    const bool fits =
        (last.count == 1 || last.stride == step) && (region.count == 1 || region.stride == step);
    if (one_buffer && step >= 1 && fits) {
      last.count += region.count;
      last.stride = step;
      return;
    }
  }
  regions.push_back(region);
  if (region.count == 1) regions.back().stride = 1;
}

void append_slice(Regions& regions, const Regions& list, int32_t from, int32_t count) {
  for (const Region& region : list) {
    if (count == 0) return;
    if (from >= region.count) {
      from -= region.count;
      continue;
    }
    Region piece = region;
    piece.first += from * region.stride;
    piece.count = std::min(region.count - from, count);
    append(regions, piece);
    count -= piece.count;
    from = 0;
  }
}

int32_t blocks_of(const Regions& list) {
  int32_t blocks = 0;
  for (const Region& region : list) blocks += region.count;
  return blocks;
}

Regions parts_of(const std::vector<int32_t>& ranks) {
  Regions parts;
  for (const int32_t rank : ranks) append(parts, plan::in(0, rank));
  return parts;
}

void append_parts(Regions& regions, plan::Buffer buffer, int32_t rank, const Regions& parts) {
  for (Region region : parts) {
    region.rank = rank;
    region.buffer = buffer;
    append(regions, region);
  }
}

Regions parts_in(plan::Buffer buffer, int32_t rank, const Regions& parts) {
  Regions regions;
  append_parts(regions, buffer, rank, parts);
  return regions;
}

Locate cut(const std::vector<Regions>& lists, int32_t items) {
  return [&lists, items](int32_t rank, int64_t item, Regions& regions) {
    const Regions& list = lists[static_cast<size_t>(rank)];
    const int64_t blocks = blocks_of(list);
    const int64_t low = item * blocks / items, high = (item + 1) * blocks / items;
    append_slice(regions, list, static_cast<int32_t>(low), static_cast<int32_t>(high - low));
  };
}

}  // namespace tutti::algo
