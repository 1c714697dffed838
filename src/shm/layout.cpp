#include "shm/layout.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "shm/segment.h"

namespace tutti::shm {

Layout Layout::fit(int32_t ranks, size_t bytes_per_rank) {
  if (bytes_per_rank < smallest_area) {
    throw Error(Code::unavailable, "a rank needs at least " + std::to_string(smallest_area) +
                                       " bytes of shared memory, " +
                                       std::to_string(bytes_per_rank) +
                                       " were given; raise TUTTI_SHM_BYTES_PER_RANK");
  }
  constexpr size_t most_lines = 64;
  constexpr size_t fewest_lines = 16;
  Layout layout;
  layout.ranks = ranks;
  layout.line_count =
      static_cast<int32_t>(std::clamp(bytes_per_rank / 4 / line_size, fewest_lines, most_lines));
  layout.slot_bytes = (bytes_per_rank - layout.slot_offset()) / line_size * line_size;
  return layout;
}

size_t deep_area(int32_t ranks) {
  constexpr size_t usual_cache = 1024 * 1024;
  constexpr size_t most_cache = 2 * usual_cache;
  constexpr size_t beside_the_ring = 32 * 1024;
  constexpr size_t share_of_memory = 64;
  constexpr size_t most_of_node = 120 * 1024 * 1024;
  const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
  const size_t ring =
      2 * (cache > 0 ? std::clamp(static_cast<size_t>(cache), usual_cache / 2, most_cache)
                     : usual_cache);
  const auto memory =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
  const size_t of_node = std::min(memory / share_of_memory, most_of_node);
  return std::max(modest_area,
                  std::min(ring + beside_the_ring, of_node / static_cast<size_t>(ranks)));
}

size_t first_area(int32_t ranks, size_t asked, bool scarce) {
  const auto all = static_cast<size_t>(ranks);
  const auto in_pages = [](size_t bytes) {
    return (bytes + page_size - 1) / page_size * page_size;
  };
  const size_t deep = deep_area(ranks) * all;
  const size_t given = asked != 0 ? asked : modest_area;
  size_t share = in_pages(given * all) / 2;
  if (asked == 0) share = scarce ? std::min(share, deep) : deep;
  const size_t least = std::max(smallest_area, comfortable_area) * all;
  return std::min(in_pages(std::max(share, least)), most_bytes) / all;
}

}  // namespace tutti::shm
