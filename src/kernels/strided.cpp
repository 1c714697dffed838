#include "kernels/strided.h"

#include <utility>

#include "kernels/kernels.h"

namespace tutti::kernels {
namespace {

// The two directions. Memory is an address, because offsets may be absolute addresses.
struct Gather {
  using Packed = std::byte*;
  [[gnu::always_inline]] static void move(Packed packed, uintptr_t memory, size_t bytes) {
    copy(packed, reinterpret_cast<const void*>(memory), bytes);
  }
  template <size_t bytes>
  [[gnu::always_inline]] static void move_fixed(Packed packed, uintptr_t memory) {
    __builtin_memcpy(packed, reinterpret_cast<const void*>(memory), bytes);
  }
};

struct Scatter {
  using Packed = const std::byte*;
  [[gnu::always_inline]] static void move(Packed packed, uintptr_t memory, size_t bytes) {
    copy(reinterpret_cast<void*>(memory), packed, bytes);
  }
  template <size_t bytes>
  [[gnu::always_inline]] static void move_fixed(Packed packed, uintptr_t memory) {
    __builtin_memcpy(reinterpret_cast<void*>(memory), packed, bytes);
  }
};

// Moves the blocks of an innermost level; returns the end of the packed bytes.
template <class Way>
using Row = typename Way::Packed (*)(typename Way::Packed packed, uintptr_t memory,
                                     const Level& level, size_t block);

template <class Way>
typename Way::Packed move_row(typename Way::Packed packed, uintptr_t memory, const Level& level,
                              size_t block) {
  const auto stride = static_cast<uintptr_t>(level.stride);
  for (size_t i = 0; i < level.count; ++i, packed += block, memory += stride)
    Way::move(packed, memory, block);
  return packed;
}

// For blocks whose size is a constant: one or two loads and stores each.
template <class Way, size_t bytes>
typename Way::Packed move_short_blocks(typename Way::Packed packed, uintptr_t memory,
                                       const Level& level, size_t) {
  const auto stride = static_cast<uintptr_t>(level.stride);
  size_t i = 0;
  for (; i + 4 <= level.count; i += 4, packed += 4 * bytes, memory += 4 * stride) {
    Way::template move_fixed<bytes>(packed, memory);
    Way::template move_fixed<bytes>(packed + bytes, memory + stride);
    Way::template move_fixed<bytes>(packed + 2 * bytes, memory + 2 * stride);
    Way::template move_fixed<bytes>(packed + 3 * bytes, memory + 3 * stride);
  }
  for (; i < level.count; ++i, packed += bytes, memory += stride)
    Way::template move_fixed<bytes>(packed, memory);
  return packed;
}

template <class Way>
Row<Way> row_of(size_t block) {
  switch (block) {
    case 1: return move_short_blocks<Way, 1>;
    case 2: return move_short_blocks<Way, 2>;
    case 4: return move_short_blocks<Way, 4>;
    case 8: return move_short_blocks<Way, 8>;
    case 12: return move_short_blocks<Way, 12>;  // three floats
    case 16: return move_short_blocks<Way, 16>;
    case 24: return move_short_blocks<Way, 24>;  // three doubles
    case 32: return move_short_blocks<Way, 32>;
    default: return move_row<Way>;
  }
}

// Needs at least one level.
template <class Way>
typename Way::Packed move_levels(typename Way::Packed packed, uintptr_t memory, const Level* levels,
                                 size_t level_count, size_t block, Row<Way> row) {
  if (level_count == 1) return row(packed, memory, *levels, block);
  for (size_t i = 0; i < levels->count; ++i, memory += static_cast<uintptr_t>(levels->stride))
    packed = move_levels<Way>(packed, memory, levels + 1, level_count - 1, block, row);
  return packed;
}

template <class Way>
[[gnu::always_inline]] inline typename Way::Packed move_piece(typename Way::Packed packed,
                                                              uintptr_t memory, const Level* levels,
                                                              size_t level_count, size_t block) {
  if (level_count > 0)
    return move_levels<Way>(packed, memory, levels, level_count, block, row_of<Way>(block));
  Way::move(packed, memory, block);
  return packed + block;
}

// True if `outer` repeats `inner` so that both are one level of more parts.
bool continues(const Level& outer, const Level& inner) {
  return outer.stride == static_cast<ptrdiff_t>(inner.count) * inner.stride;
}

// Puts a level before the others, or merges it into the first one. Returns false if there are too
// many.
bool put_first(std::vector<Level>& levels, size_t at, size_t level_count, const Level& outer) {
  if (level_count > 0 && continues(outer, levels[at])) {
    levels[at].count *= outer.count;
    return true;
  }
  if (level_count == StridedLayout::most_levels) return false;
  levels.insert(levels.begin() + static_cast<ptrdiff_t>(at), outer);
  return true;
}

}  // namespace

StridedLayout::StridedLayout(size_t block) : bytes_(block) {
  if (block > 0) pieces_.push_back({0, block, 0, 0});
}

bool StridedLayout::is_block() const {
  return pieces_.size() == 1 && repeats_.empty() && pieces_[0].level_count == 0 &&
         pieces_[0].offset == 0;
}

bool StridedLayout::repeat_piece(const Level& outer) {
  Piece& piece = pieces_[0];
  if (piece.level_count == 0 && outer.stride == static_cast<ptrdiff_t>(piece.block)) {
    piece.block *= outer.count;
    return true;
  }
  if (!put_first(levels_, 0, piece.level_count, outer)) return false;
  piece.level_count = static_cast<uint32_t>(levels_.size());
  return true;
}

bool StridedLayout::repeat(size_t count, ptrdiff_t stride) {
  if (count == 0) *this = {};
  if (count <= 1 || bytes_ == 0) return true;
  if (__builtin_mul_overflow(bytes_, count, &bytes_)) return false;
  if (pieces_.size() == 1 && repeats_.empty()) return repeat_piece({count, stride});
  return put_first(repeats_, 0, repeats_.size(), {count, stride});
}

// Merges a block into the last piece, if it is adjacent to a last block or continues a last row of
// equal blocks.
bool StridedLayout::extend_last(ptrdiff_t offset, const Piece& piece) {
  if (pieces_.empty() || piece.level_count > 0) return false;
  Piece& last = pieces_.back();
  if (last.level_count == 0 && offset == last.offset + static_cast<ptrdiff_t>(last.block)) {
    last.block += piece.block;
    return true;
  }
  if (last.block != piece.block) return false;
  if (last.level_count == 0) {
    last.first_level = static_cast<uint32_t>(levels_.size());
    last.level_count = 1;
    levels_.push_back({2, offset - last.offset});
    return true;
  }
  if (last.level_count > 1) return false;
  Level& row = levels_[last.first_level];
  if (offset != last.offset + static_cast<ptrdiff_t>(row.count) * row.stride) return false;
  ++row.count;
  return true;
}

bool StridedLayout::append_piece(ptrdiff_t offset, const Piece& piece, const Level* levels) {
  if (extend_last(offset, piece)) return true;
  if (pieces_.size() == most_pieces) return false;
  pieces_.push_back(
      {offset, piece.block, static_cast<uint32_t>(levels_.size()), piece.level_count});
  levels_.insert(levels_.end(), levels, levels + piece.level_count);
  return true;
}

bool StridedLayout::append_pieces(const StridedLayout& next, ptrdiff_t offset) {
  for (const Piece& piece : next.pieces_)
    if (!append_piece(offset + piece.offset, piece, next.levels_.data() + piece.first_level))
      return false;
  return true;
}

bool StridedLayout::append_repeats(const StridedLayout& next, size_t depth, ptrdiff_t offset) {
  if (depth == next.repeats_.size()) return append_pieces(next, offset);
  const Level& level = next.repeats_[depth];
  for (size_t i = 0; i < level.count; ++i)
    if (!append_repeats(next, depth + 1, offset + static_cast<ptrdiff_t>(i) * level.stride))
      return false;
  return true;
}

bool StridedLayout::append(const StridedLayout& next, ptrdiff_t offset) {
  if (next.bytes_ == 0) return true;
  if (!repeats_.empty()) {
    StridedLayout written_out;
    if (!written_out.append_repeats(*this, 0, 0)) return false;
    written_out.bytes_ = bytes_;
    *this = std::move(written_out);
  }
  if (__builtin_add_overflow(bytes_, next.bytes_, &bytes_)) return false;
  return append_repeats(next, 0, offset);
}

template <class Way>
typename Way::Packed StridedLayout::run_pieces(typename Way::Packed packed, uintptr_t memory,
                                               size_t depth) const {
  if (depth < repeats_.size()) {
    const Level& level = repeats_[depth];
    for (size_t i = 0; i < level.count; ++i, memory += static_cast<uintptr_t>(level.stride))
      packed = run_pieces<Way>(packed, memory, depth + 1);
    return packed;
  }
  for (const Piece& piece : pieces_)
    packed = move_piece<Way>(packed, memory + static_cast<uintptr_t>(piece.offset),
                             levels_.data() + piece.first_level, piece.level_count, piece.block);
  return packed;
}

template <class Way>
void StridedLayout::run(typename Way::Packed packed, uintptr_t memory, size_t count,
                        ptrdiff_t extent) const {
  if (bytes_ == 0 || count == 0) return;
  if (pieces_.size() > 1 || !repeats_.empty()) {
    for (size_t i = 0; i < count; ++i, memory += static_cast<uintptr_t>(extent))
      packed = run_pieces<Way>(packed, memory, 0);
    return;
  }
  // One piece: the elements are one more level.
  const Piece& piece = pieces_[0];
  const Level elements{count, extent};
  memory += static_cast<uintptr_t>(piece.offset);
  if (piece.level_count == 0 && (count == 1 || extent == static_cast<ptrdiff_t>(piece.block))) {
    Way::move(packed, memory, count * piece.block);
    return;
  }
  if (piece.level_count == 0 || count == 1) {
    const Level* const levels = count == 1 ? levels_.data() : &elements;
    const size_t level_count = count == 1 ? piece.level_count : 1;
    move_piece<Way>(packed, memory, levels, level_count, piece.block);
    return;
  }
  Level levels[most_levels + 1];
  size_t level_count = 0;
  if (!continues(elements, levels_[0])) levels[level_count++] = elements;
  for (const Level& level : levels_) levels[level_count++] = level;
  if (level_count == piece.level_count) levels[0].count *= count;
  move_piece<Way>(packed, memory, levels, level_count, piece.block);
}

void StridedLayout::gather(std::byte* packed, const void* memory, size_t count,
                           ptrdiff_t extent) const {
  run<Gather>(packed, reinterpret_cast<uintptr_t>(memory), count, extent);
}

void StridedLayout::scatter(const std::byte* packed, void* memory, size_t count,
                            ptrdiff_t extent) const {
  run<Scatter>(packed, reinterpret_cast<uintptr_t>(memory), count, extent);
}

}  // namespace tutti::kernels
