#include "shm/layout.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace tutti::shm {

Layout Layout::fit(int32_t ranks, size_t bytes_per_rank) {
  if (bytes_per_rank < smallest_area) {
    throw Error(Code::unavailable, "a rank needs at least " + std::to_string(smallest_area) + " bytes of shared memory, " +
                                       std::to_string(bytes_per_rank) + " were given; raise TUTTI_SHM_BYTES_PER_RANK");
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

}  // namespace tutti::shm
