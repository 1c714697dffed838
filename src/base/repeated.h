// A row of numbers, kept by what repeats in it: for what thousands of ranks have one of each.
//
// Where ranks lie repeats: node after node of as many ranks, or rank after rank on the next node. A
// row is a list of pieces. A piece is a head, the numbers it begins with, and goes on with them,
// each time larger by `step`; its last time may be cut short. A head is a row again. So such a row
// takes what one node takes, or less, whatever its length; one node that differs takes a piece
// more; and where nothing repeats, the numbers themselves are kept.
//
// Which pieces a row has hangs on its numbers alone, so equal rows have equal pieces and equal
// texts. In text the numbers stand with commas between; a piece is `(HEAD)*NUMBERS+STEP`, NUMBERS
// being how many it has in all, with no STEP where it is 0: `(0,0,1,1)*4096+2`. Short rows have no
// such pieces.
//
// A value, constant once made; any thread. To look a number up costs a few divisions: who needs
// many of them takes values() for a while. Making one takes a time that grows with the row (and its
// log, where it repeats badly), and some 16 bytes a number meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

class Repeated {
 public:
  Repeated() = default;
  Repeated(
      const std::vector<int32_t>& numbers);  // NOLINT: a row of numbers is one, whoever keeps it
  Repeated(std::initializer_list<int32_t> numbers) : Repeated(std::vector<int32_t>(numbers)) {}

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int32_t operator[](size_t place) const;
  int32_t front() const { return (*this)[0]; }
  // All of them.
  std::vector<int32_t> values() const;

  // Equal for equal rows, empty for none. A key for what is made from one.
  std::string text() const;
  // What text() writes, and the same written otherwise; nothing where it is no such text, or says
  // more than `most` numbers.
  static std::optional<Repeated> read(std::string_view text, size_t most);

  // Of memory, beside the object's own.
  size_t bytes() const {
    return pieces_.capacity() * sizeof(Piece) + numbers_.capacity() * sizeof(int32_t);
  }

  bool operator==(const Repeated&) const = default;

 private:
  friend class RepeatedMaker;
  struct Piece {
    uint32_t end;     // of its row: the place behind its last number
    uint32_t period;  // numbers of its head
    int32_t step;
    uint32_t first;   // of its head: the first of its pieces, or of its numbers
    uint32_t pieces;  // of its head; 0: its head is in numbers_
    bool operator==(const Piece&) const = default;
  };
  void append(uint32_t first, uint32_t pieces, std::vector<int32_t>& to) const;
  void write(uint32_t first, uint32_t pieces, std::string& to) const;

  uint32_t size_ = 0;
  uint32_t own_pieces_ = 0;  // the first of pieces_, the others are of heads
  std::vector<Piece> pieces_;
  std::vector<int32_t> numbers_;
};

}  // namespace tutti
