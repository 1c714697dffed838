// A RangeTable maps (key, bytes) to a value that holds for a range of bytes. A group finds in it
// the entry that serves a call.
//
// One group owns the table, and only the thread that uses the group uses it. The table does not own
// the values: its owner clears it when it destroys them. The table uses open addressing: a range is
// found by its key and by the power of two of the bytes. So calls of any mix of sizes find their
// ranges in one or two probes, without a lock or an allocation. A range that spans several powers
// of two is noted once for each of them in which a call was made. The table grows to `most` ranges
// and is then emptied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::group {

template <class Value>
class RangeTable {
 public:
  static constexpr uint64_t no_key = UINT64_MAX;

  // The value whose range holds the bytes; null if none is noted. At most half of the entries are
  // used, so every search ends.
  Value* find(uint64_t key, size_t bytes) const {
    for (size_t at = index_of(key, bytes);; at = (at + 1) & mask_) {
      const Range& range = ranges_[at];
      // One comparison for the range: sizes below it wrap to large numbers.
      if (range.key == key && bytes - range.low <= range.span) return range.value;
      if (range.key == no_key) return nullptr;
    }
  }

  // Notes that `value` serves from `low` to `high` bytes. It was found for `bytes`, a number
  // between the two for which no value was noted.
  void note(uint64_t key, size_t bytes, size_t low, size_t high, Value* value) {
    if (2 * (noted_ + 1) > ranges_.size()) {
      if (noted_ >= most) clear();
      if (2 * (noted_ + 1) > ranges_.size()) grow();
    }
    put({key, low, high - low, value, bytes});
  }

  void clear() {
    ranges_.assign(ranges_.size(), {});
    noted_ = 0;
  }

 private:
  static constexpr size_t least = 16, most = 4096;  // ranges that fit

  struct Range {
    uint64_t key = no_key;
    size_t low = 0, span = 0;
    Value* value = nullptr;
    size_t bytes = 0;  // the bytes of the call for which it was noted
  };

  // The index at which the search for a range begins.
  size_t index_of(uint64_t key, size_t bytes) const {
    // Powers of two belong to the sizes below them, because the ranges of rules end at them.
    const auto power = static_cast<uint64_t>(__builtin_clzll((bytes - 1) | 1));
    return ((key ^ power << 56) * 0x9E3779B97F4A7C15u) >> 32 & mask_;
  }

  void put(const Range& range) {
    size_t at = index_of(range.key, range.bytes);
    while (ranges_[at].key != no_key) at = (at + 1) & mask_;
    ranges_[at] = range;
    ++noted_;
  }

  void grow() {
    std::vector<Range> before(2 * ranges_.size());
    before.swap(ranges_);
    mask_ = ranges_.size() - 1;
    noted_ = 0;
    for (const Range& range : before)
      if (range.key != no_key) put(range);
  }

  std::vector<Range> ranges_ = std::vector<Range>(2 * least);
  size_t mask_ = 2 * least - 1;
  size_t noted_ = 0;
};

}  // namespace tutti::group
