// Geometry: into how many segments an operation is cut, how many ring positions they take, and from
// which sizes on readers bypass the slots.
//
// Pure functions of a program, of an operation's bytes and element, of the memory and the abilities
// of a group, and of what selection asks for. All ranks of a group have the same of each, so all
// ranks find the same. The executor asks these functions, and `tutti explain` asks them, so that it
// reports what runs. Any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/line.h"
#include "base/options.h"
#include "plan/program.h"

namespace tutti::plan {

inline size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// The memory of a group, and the ways beside it by which data goes. The same at all ranks.
struct Resources {
  int32_t lines = 0;       // in the ring of lines of a rank
  size_t short_slots = 0;  // bytes of a slot's ring for short messages
  size_t long_slots = 0;   // bytes of a slot's ring for all other messages
  size_t most_short = 0;   // an operation of one segment takes the ring for short messages if it
                           // needs at most so many bytes of it

  bool threads = false;                // ranks are threads of one process: they reach all buffers
  bool mapped = false;                 // every rank has mapped a range of each other rank's memory
  bool system_copies = false;          // ranks may read each other's memory by process_vm_readv
  bool system_copies_unasked = false;  // long messages do so although no rule asks for it
  // Where ranks are on several nodes: a message of up to so many bytes goes without the consent of
  // its receiver. Nothing where all ranks share memory.
  std::optional<size_t> prompt;
};

// The resources of a group with slots of so many bytes and no other way. A slot has two rings:
// short messages go round in a small one, whose lines stay in the first-level caches of writer and
// readers. With 8 KiB messages a ring of 16 KiB was a third faster than one of 120 KiB.
Resources resources_of(size_t slot_bytes, int32_t lines);

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
inline size_t block_bytes_of(const Program& program, size_t element, size_t segment_bytes) {
  const auto blocks = static_cast<size_t>(program.blocks);
  if (blocks == 1) return round_up(segment_bytes, line_size);
  const size_t elements = (segment_bytes / element + blocks - 1) / blocks;
  return line_size % element == 0 ? round_up(elements * element, line_size) : elements * element;
}

inline size_t position_bytes_of(const Program& program, size_t element, size_t segment_bytes) {
  return round_up(
      static_cast<size_t>(program.slot_blocks) * block_bytes_of(program, element, segment_bytes),
      line_size);
}

inline Geometry geometry_of_whole(const Program& program, size_t element, size_t bytes) {
  return {bytes, block_bytes_of(program, element, bytes),
          position_bytes_of(program, element, bytes), 1, 1};
}

// `ring_bytes`: what the operation may take of the ring.
inline Geometry geometry_of_segments(const Program& program, size_t element, size_t bytes,
                                     size_t segment, size_t ring_bytes) {
  Geometry geometry{segment, block_bytes_of(program, element, segment),
                    position_bytes_of(program, element, segment),
                    static_cast<int64_t>((bytes + segment - 1) / segment), 1};
  const size_t fit = geometry.position_bytes == 0 ? 1 : ring_bytes / geometry.position_bytes;
  geometry.positions = std::min<int64_t>(geometry.segments, static_cast<int64_t>(fit));
  return geometry;
}

// Vectors of up to so many bytes go through in one piece, whatever their elements. `wanted`: the
// segment size that selection asks for, segment_halves, or 0 for the default.
size_t whole_up_to(const Program& program, const Resources& resources, size_t wanted);

// Bytes of one segment that the slots can pipeline for a program that fits, about `wanted` at most;
// `bytes` where one piece is best. Otherwise a multiple of the element and of line_size, but for
// elements whose size does not divide line_size: then of the element alone.
size_t segment_bytes(const Program& program, const Resources& resources, size_t element,
                     size_t bytes, size_t wanted);

// Whether an operation's lines, or segments of one element (of a few where elements are small), fit
// the rings.
bool fits(const Program& program, const Resources& resources, size_t element);

// Elements up to this size can be staged by flat plans.
inline size_t max_element(const Resources& resources) {
  return resources.long_slots / 8 / line_size * line_size;
}

// Sizes from which readers bypass the slots (docs/openmp.md): where they have mapped the buffer,
// and where the system's copies are used although no rule asks for them.
inline constexpr size_t direct_from = 8 * 1024;
inline constexpr size_t cma_from = 128 * 1024;

// Bytes from which the readers of a program may bypass the slots; SIZE_MAX: never.
struct ReachFrom {
  size_t any = SIZE_MAX;  // by any way
  size_t cma = SIZE_MAX;  // by the system's copies, where the buffer is not mapped
};
ReachFrom reach_from(const Program& program, const Resources& resources, ReachChoice choice);

// Bytes of a slot for the table of places (exec/reached.h).
inline size_t table_bytes(int ranks) {
  return round_up(static_cast<size_t>(ranks) * sizeof(uint64_t), line_size);
}
// Whether the slots have room for such a table beside an operation's segments.
bool has_table(const Program& program, const Resources& resources, size_t element, size_t bytes,
               size_t segment);

// All of it, for one operation whose parts, if it has any, are of one length.
struct Travel {
  bool in_lines = false;  // data and flags share lines; then there is one segment, and no slot
  Geometry geometry{};
  bool bypasses_mapped = false;     // readers bypass the slots where they have mapped the buffer
  bool bypasses_by_system = false;  // or have the system copy
};
Travel travel(const Program& program, const Resources& resources, size_t element, size_t bytes,
              size_t wanted, ReachChoice choice);

}  // namespace tutti::plan
