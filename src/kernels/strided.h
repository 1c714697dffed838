// Layouts of data that lie in memory with gaps or in another order, and the kernels that gather
// such data into packed bytes and scatter packed bytes to it.
//
// A layout is data. It is a list of pieces in packed order; a piece is a block of bytes at an
// offset, repeated by up to most_levels levels, each with a count and a stride. Adjacent blocks and
// adjacent levels are merged when a layout is built, so that a face of whole rows is few long
// blocks. An owner builds a layout, which allocates and may throw bad_alloc. From then on it is
// constant, and any thread may gather and scatter with it; that allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::kernels {

// `count` equal parts, whose first bytes are `stride` bytes apart.
struct Level {
  size_t count = 0;
  ptrdiff_t stride = 0;
};

class StridedLayout {
 public:
  static constexpr size_t most_levels = 8;
  static constexpr size_t most_pieces = 16 * 1024;  // 24 bytes each

  StridedLayout() = default;             // no bytes
  explicit StridedLayout(size_t block);  // a layout of so many adjacent bytes

  // Repeats the whole layout. Returns false if the result exceeds the limits above; the layout then
  // has no meaning.
  [[nodiscard]] bool repeat(size_t count, ptrdiff_t stride);
  // Puts `next`, moved by `offset` bytes, behind all pieces in packed order. Returns as repeat
  // does.
  [[nodiscard]] bool append(const StridedLayout& next, ptrdiff_t offset);

  size_t bytes() const { return bytes_; }
  // The number of pieces; a few kernels' loops serve each.
  size_t pieces() const { return pieces_.size(); }
  // True if packed bytes and memory are the same bytes in the same order, without an offset.
  bool is_block() const;

  // Gather and scatter `count` elements of this layout whose origins are `extent` bytes apart.
  // `packed` has count * bytes(). The regions are disjoint, and scatter writes no byte twice.
  // Offsets from `memory` may be negative, and `memory` may be null if offsets are addresses.
  void gather(std::byte* packed, const void* memory, size_t count, ptrdiff_t extent) const;
  void scatter(const std::byte* packed, void* memory, size_t count, ptrdiff_t extent) const;

 private:
  struct Piece {
    ptrdiff_t offset = 0;
    size_t block = 0;
    uint32_t first_level = 0;  // in levels_; the outermost level comes first
    uint32_t level_count = 0;
  };

  bool append_piece(ptrdiff_t offset, const Piece& piece, const Level* levels);
  bool extend_last(ptrdiff_t offset, const Piece& piece);
  bool append_repeats(const StridedLayout& next, size_t depth, ptrdiff_t offset);
  bool append_pieces(const StridedLayout& next, ptrdiff_t offset);
  bool repeat_piece(const Level& outer);
  template <class Way>
  void run(typename Way::Packed packed, uintptr_t memory, size_t count, ptrdiff_t extent) const;
  template <class Way>
  typename Way::Packed run_pieces(typename Way::Packed packed, uintptr_t memory,
                                  size_t depth) const;

  std::vector<Level> levels_;  // the levels of all pieces
  std::vector<Piece> pieces_;
  std::vector<Level> repeats_;  // the repeats of all pieces together; empty if there is one piece
  size_t bytes_ = 0;
};

}  // namespace tutti::kernels
