// Saturation maps (rma/saturation.h) for the programs that make them: the combinations of which a
// map consists, and its rows.
//
// Plain values; any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

#include "require.h"
#include "rma/saturation.h"

namespace tutti::bench {

// So many cores transfer at once, so many messages each. Messages of fewer bytes than a line lie in
// lines of their own. A side of the transfers has `side_bytes` at most, so messages may share
// places.
inline constexpr size_t side_bytes = size_t{4} << 20;
struct Combination {
  rma::Kind kind;
  size_t cores, messages, bytes;

  size_t stride() const { return std::max<size_t>(bytes, 64); }
  size_t places() const { return std::min(messages, std::max<size_t>(1, side_bytes / stride())); }
  size_t extent() const { return places() * stride(); }
};

// The messages of one core, between `mine` and the target's `theirs`, until they are complete.
inline void transfer(tutti_group* group, int target, const Combination& one, std::byte* mine,
                     std::byte* theirs) {
  const size_t stride = one.stride(), places = one.places();
  for (size_t i = 0, place = 0; i < one.messages; ++i) {
    std::byte *const here = mine + place * stride, *const there = theirs + place * stride;
    require_ok(one.kind == rma::Kind::put
                   ? tutti_put(group, target, there, here, one.bytes, nullptr)
                   : tutti_get(group, target, here, there, one.bytes, nullptr));
    if (++place == places) place = 0;
  }
  require_ok(tutti_wait_all(group));
}

// Each combination takes so many milliseconds, and `least_repetitions` at least.
inline constexpr int least_repetitions = 3, most_repetitions = 400;
inline bool is_enough(int repetitions, double spent, int milliseconds) {
  return repetitions >= most_repetitions ||
         (repetitions >= least_repetitions && spent >= milliseconds);
}

// A map without values, of this machine: by powers of two of cores (and all), of messages and of
// bytes, up to the last ones.
rma::SaturationMap empty_map(size_t cores, size_t messages, size_t first_bytes, size_t last_bytes,
                             rma::Scope scope);
// Gives it values. `time` returns the nanoseconds in which all cores of a combination transfer.
void fill_map(rma::SaturationMap& map, const std::function<double(const Combination&)>& time);

// Adds the rows of a map: of each combination, of each by servers if they were measured, and of
// handing transfers over to a server, if the map is that of a node.
void add_rows(const rma::SaturationMap& map);

}  // namespace tutti::bench
