// Geometry: into how many segments an operation is cut, how many ring positions they take, and from
// which sizes on readers bypass the slots.
//
// Pure functions of a program, an operation's bytes and element, a group's resources, and the
// parameters that selection chooses. All of these are the same at all ranks of a group, so all
// ranks find the same geometry. The executor and `tutti explain` call the same functions, so that
// `tutti explain` reports what runs. Any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/line.h"
#include "base/options.h"
#include "plan/program.h"

namespace tutti::plan {

// The shared memory of a group and the other ways in which its ranks move data. The same at all
// ranks.
struct Resources {
  int32_t lines = 0;       // in the ring of lines of a rank
  size_t short_slots = 0;  // bytes of a slot's ring for short messages
  size_t long_slots = 0;   // bytes of a slot's ring for all other messages
  // An operation of one segment uses the ring for short messages if it needs at most these bytes.
  size_t most_short = 0;

  bool threads = false;                // ranks are threads of one process: they reach all buffers
  bool mapped = false;                 // every rank has mapped a range of each other rank's memory
  bool system_copies = false;          // ranks may read each other's memory by process_vm_readv
  bool system_copies_unasked = false;  // long messages do so although no rule requests it
  // If ranks are on several nodes: the most bytes of a message that the transport sends without
  // waiting for the receiver (an eager message). Nothing if all ranks share memory.
  std::optional<size_t> prompt;
};

// The resources of a group that has slots of `slot_bytes` bytes and no other way. A slot has two
// rings. Short messages use a small one, whose lines stay in the first-level caches of writer and
// readers. With 8 KiB messages a ring of 16 KiB was a third faster than one of 120 KiB.
Resources resources_of(size_t slot_bytes, int32_t lines);

// How an operation's bytes are cut into segments, blocks and ring positions.
struct Geometry {
  size_t segment_bytes;   // bytes of the user's vector in every segment except the last
  size_t block_bytes;     // bytes of every block; a vector's last ones may be short or empty
  size_t position_bytes;  // bytes of a slot's ring position
  int64_t segments;
  int64_t positions;  // ring positions that this operation takes
};

// The distance from one block to the next in a segment. If a vector has one block, the distance
// matters in the slot only. If it has several, each starts on a line, provided that a line holds a
// whole number of elements.
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

// `ring_bytes`: the bytes of the ring that the operation may use.
inline Geometry geometry_of_segments(const Program& program, size_t element, size_t bytes,
                                     size_t segment, size_t ring_bytes) {
  Geometry geometry{segment, block_bytes_of(program, element, segment),
                    position_bytes_of(program, element, segment),
                    static_cast<int64_t>((bytes + segment - 1) / segment), 1};
  const size_t fit = geometry.position_bytes == 0 ? 1 : ring_bytes / geometry.position_bytes;
  geometry.positions = std::min<int64_t>(geometry.segments, static_cast<int64_t>(fit));
  return geometry;
}

// The bytes up to which vectors go in one piece, whatever the size of their elements. `wanted`: the
// segment size that selection chooses, segment_halves, or 0 for the default.
size_t whole_up_to(const Program& program, const Resources& resources, size_t wanted);

// The bytes of a segment, at most about `wanted`, such that the slots can pipeline the program,
// which must fit (see `fits`). Returns `bytes` if one piece is best. Otherwise the result is a
// multiple of the element and of line_size, or of the element alone if its size does not divide
// line_size.
size_t segment_bytes(const Program& program, const Resources& resources, size_t element,
                     size_t bytes, size_t wanted);

// True if the rings have room for an operation's lines or, in slots, for its shortest segments,
// which are one element or, if elements are small, a line of them.
bool fits(const Program& program, const Resources& resources, size_t element);

// True if the ring has room for segments that are worth their hand-overs. A ring position of some
// programs for vectors holds several blocks. In a small ring their segments have some hundred
// bytes, and as many hand-overs each as longer ones.
bool pipelines(const Program& program, const Resources& resources, size_t wanted);

// Elements up to this size can be staged by flat plans.
inline size_t max_element(const Resources& resources) {
  return resources.long_slots / 8 / line_size * line_size;
}

// Sizes from which readers bypass the slots (docs/openmp.md): if they have mapped the buffer, and
// if they use the system's copies although no rule requests that.
inline constexpr size_t direct_from = 8 * 1024;
inline constexpr size_t cma_from = 128 * 1024;

// Bytes from which the readers of a program may bypass the slots; SIZE_MAX: never.
struct ReachFrom {
  size_t any = SIZE_MAX;  // the least bytes for bypassing in any way
  size_t cma = SIZE_MAX;  // the least bytes for the system's copies, if the buffer is not mapped
};
ReachFrom reach_from(const Program& program, const Resources& resources, ReachChoice choice);

// Bytes of a slot for the table of places (exec/reached.h).
inline size_t table_bytes(int ranks) {
  return round_up(static_cast<size_t>(ranks) * sizeof(uint64_t), line_size);
}
// True if the slots have room for such a table beside an operation's segments.
bool has_table(const Program& program, const Resources& resources, size_t element, size_t bytes,
               size_t segment);

// How the data of one operation goes. If it has parts, they are of one length.
struct Travel {
  bool in_lines = false;  // data and flags share lines; then there is one segment, and no slot
  Geometry geometry{};
  bool bypasses_mapped = false;     // readers bypass the slots if they have mapped the buffer
  bool bypasses_by_system = false;  // readers bypass the slots by the system's copies
};
Travel travel(const Program& program, const Resources& resources, size_t element, size_t bytes,
              size_t wanted, ReachChoice choice);

}  // namespace tutti::plan
