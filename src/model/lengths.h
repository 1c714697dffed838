// How many bytes a step or a message moves in a segment, and whether that goes through slots, for
// the rooms that look at programs from outside. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/geometry.h"
#include "plan/semantics.h"

namespace tutti::model {

// The bytes of a run of blocks in a segment; `bytes` are those of the vector, or of one part.
inline double length_of(const plan::Program& program, const plan::Geometry& geometry, size_t bytes,
                        int32_t first, int32_t count, int64_t segment) {
  const size_t begin = plan::segment_begin(segment, geometry.segment_bytes);
  const size_t length = plan::segment_length(begin, geometry.segment_bytes, bytes);
  if (program.parted) return static_cast<double>(length) * count;
  return static_cast<double>(plan::extent_length(
      static_cast<size_t>(first), static_cast<size_t>(count), geometry.block_bytes, length));
}

inline double length_of(const plan::Program& program, const plan::Geometry& geometry, size_t bytes,
                        const plan::Message& message, int64_t segment) {
  double sum = 0;
  for (int32_t i = 0; i < message.piece_count; ++i) {
    const plan::Piece& piece = program.pieces[static_cast<size_t>(message.first_piece + i)];
    sum += length_of(program, geometry, bytes, piece.extent_first, piece.extent_count, segment);
  }
  return sum;
}

// True if readers find long data where its owner has it, by whatever way.
inline bool bypasses(const plan::Travel& travel) {
  return travel.bypasses_mapped || travel.bypasses_by_system;
}

}  // namespace tutti::model
