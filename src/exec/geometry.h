// How a vector is cut into segments and blocks, and what they take of a slot. Internal to src/exec.
//
// Pure. All ranks compute the same: from the program, the vector's bytes and the segment size
// alone.
#pragma once

#include <algorithm>

#include "exec/executor.h"

namespace tutti::exec {

inline size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Where the blocks of one segment are.
struct Geometry {
  size_t segment_bytes;   // of the user's vector, but for the last segment
  size_t block_bytes;     // of every block; a vector's last ones may be short or empty
  size_t position_bytes;  // of a ring position of a slot
  int64_t segments;
  int64_t positions;  // ring positions that this operation takes
};

// The distance of blocks in a segment of so many bytes. A user's vector of one block has no second
// one, so there only the slot is concerned; blocks of several start on cache lines where elements
// fit.
inline size_t block_bytes_of(const plan::Program& program, size_t element, size_t segment_bytes) {
  const auto blocks = static_cast<size_t>(program.blocks);
  if (blocks == 1) return round_up(segment_bytes, shm::line_size);
  const size_t elements = (segment_bytes / element + blocks - 1) / blocks;
  return shm::line_size % element == 0 ? round_up(elements * element, shm::line_size)
                                       : elements * element;
}

inline size_t position_bytes_of(const plan::Program& program, size_t element,
                                size_t segment_bytes) {
  return round_up(
      static_cast<size_t>(program.slot_blocks) * block_bytes_of(program, element, segment_bytes),
      shm::line_size);
}

// Segments are multiples of it.
inline size_t grain_of(size_t element) {
  return shm::line_size % element == 0 ? shm::line_size : element;
}

// What segments of this size need: as many positions as the waits between them do, and enough to
// let ranks run apart.
inline size_t ring_bytes_of(const plan::Program& program, size_t element, size_t segment_bytes) {
  return position_bytes_of(program, element, segment_bytes) *
         static_cast<size_t>(std::max(program.min_positions, 4));
}

inline Geometry geometry_of_whole(const plan::Program& program, const Operation& operation,
                                  size_t element) {
  return {operation.bytes, block_bytes_of(program, element, operation.bytes),
          position_bytes_of(program, element, operation.bytes), 1, 1};
}

inline Geometry geometry_of_segments(const plan::Program& program, const Operation& operation,
                                     size_t element, size_t slot_bytes) {
  const size_t segment = operation.segment_bytes;
  Geometry geometry{segment, block_bytes_of(program, element, segment),
                    position_bytes_of(program, element, segment),
                    static_cast<int64_t>((operation.bytes + segment - 1) / segment), 1};
  const size_t fit = geometry.position_bytes == 0 ? 1 : slot_bytes / geometry.position_bytes;
  geometry.positions = std::min<int64_t>(geometry.segments, static_cast<int64_t>(fit));
  return geometry;
}

}  // namespace tutti::exec
