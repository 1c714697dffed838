// A row of numbers, one for each rank, that keeps one period of them.
//
// Ranks are usually placed alike on every node, or dealt to the nodes one by one. The numbers of a
// row then repeat after a period, each time larger by the same step, and the row keeps the first
// period only. A period may itself repeat, so a row of any length takes about as much memory as the
// ranks of one node. The last period of a row may be cut short. A row that does not repeat from its
// first number to its last keeps all of its numbers.
//
// Equal rows are kept alike, so they have equal texts. A text is the numbers with commas between
// them, or `(PERIOD)*COUNT+STEP` for a row of COUNT numbers; a STEP of 0 is left out, and PERIOD is
// a text again: `(0,0,1,1)*4096+2`. Rows of up to 32 numbers are written out.
//
// A value, constant once made; any thread may read it. Looking a number up takes a few divisions,
// so a caller that needs many of them uses values(). Making a row takes time in proportion to its
// length and 8 bytes a number meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::placement {

class PeriodicRow {
 public:
  PeriodicRow() = default;
  PeriodicRow(std::vector<int32_t> numbers);  // NOLINT: a row is its numbers
  PeriodicRow(std::initializer_list<int32_t> numbers)
      : PeriodicRow(std::vector<int32_t>(numbers)) {}

  size_t size() const { return periods_.empty() ? numbers_.size() : periods_.front().size; }
  bool empty() const { return numbers_.empty(); }
  int32_t operator[](size_t index) const;
  int32_t front() const { return numbers_.front(); }
  // All numbers.
  std::vector<int32_t> values() const;

  // Equal for equal rows, empty for an empty row. Serves as a key for what is made from the row.
  std::string text() const;
  // Reads what text() writes. Nothing if the text is malformed or has more than `most` numbers.
  static std::optional<PeriodicRow> read(std::string_view text, size_t most);

  // The memory that the row has allocated.
  size_t bytes() const {
    return periods_.capacity() * sizeof(Period) + numbers_.capacity() * sizeof(int32_t);
  }

  bool operator==(const PeriodicRow&) const = default;

 private:
  // A row of `size` numbers that repeats the first `length` of them.
  struct Period {
    uint32_t size;
    uint32_t length;
    int32_t step;
    bool operator==(const Period&) const = default;
  };
  static std::vector<int32_t> repeated(std::vector<int32_t> period, size_t size, int32_t step);

  std::vector<Period> periods_;   // from the whole row inwards; each repeats the row of the next
  std::vector<int32_t> numbers_;  // the innermost period
};

}  // namespace tutti::placement
