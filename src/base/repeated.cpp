#include "base/repeated.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <span>

namespace tutti {
namespace {

// Rows of so many numbers are kept as they are: nothing is saved that is worth the look.
constexpr size_t plain_up_to = 32;
constexpr size_t words_of_piece = 5;
// Numbers that may be looked at for each of the row, and the window when they have been.
constexpr size_t looks_a_number = 32;
constexpr size_t short_window = 4 * plain_up_to;

// Sums and differences wrap, so that all numbers have one.
using Word = uint32_t;
using Words = std::span<const Word>;

struct Form;
struct Part {
  size_t length = 0, period = 0;
  Word step = 0;
  Words plain;                 // the head, where it is kept as it is
  std::shared_ptr<Form> head;  // else
};
struct Form {
  std::vector<Part> parts;
  size_t words = 0;  // that it takes
};

// Finds the pieces of a row.
class Search {
 public:
  explicit Search(size_t numbers) : looks_left_(numbers * looks_a_number) {}

  Form form_of(Words row) {
    Form form;
    size_t done = 0, plain_from = 0;
    const auto end_plain = [&] {
      if (plain_from == done) return;
      add(form, {done - plain_from, done - plain_from, 0,
                 row.subspan(plain_from, done - plain_from), nullptr});
    };
    for (size_t skip = 1; row.size() > plain_up_to && row.size() - done > plain_up_to;) {
      const Part part = best_of(row.subspan(done));
      if (part.length == 0) {
        // Twice as far each time, so that all looks together grow with the row and its log.
        done = std::min(done + skip, row.size());
        skip *= 2;
        continue;
      }
      end_plain();
      add(form, part);
      plain_from = done += part.length;
      skip = 1;
    }
    done = row.size();
    end_plain();
    if (form.words < row.size() + words_of_piece) return form;
    Form plain;
    add(plain, {row.size(), row.size(), 0, row, nullptr});
    return plain;
  }

 private:
  static void add(Form& form, const Part& part) {
    form.parts.push_back(part);
    form.words += words_of(part);
  }
  static size_t words_of(const Part& part) {
    return words_of_piece + (part.head != nullptr ? part.head->words : part.plain.size());
  }

  // The piece at a row's begin that keeps most numbers a word; of length 0 where none is worth it.
  // Numbers that come again, larger by a step, are differences that come again, and the borders of
  // their prefixes tell after how many.
  Part best_of(Words row) {
    row = row.first(std::min(row.size(), looks_left_ > 0 ? row.size() : short_window));
    looks_left_ -= std::min(looks_left_, row.size());
    const auto difference = [&](size_t i) { return row[i + 1] - row[i]; };
    const size_t differences = row.size() - 1;
    std::vector<uint32_t> border(differences + 1, 0);  // by length of the prefix
    Part best;
    for (size_t length = 1; length <= differences; ++length) {
      if (length > 1) {
        uint32_t shorter = border[length - 1];
        while (shorter > 0 && difference(shorter) != difference(length - 1))
          shorter = border[shorter];
        border[length] = difference(shorter) == difference(length - 1) ? shorter + 1 : 0;
      }
      if (length > 1 && length - border[length] != length - 1 - border[length - 1])
        consider(row, length - 1, length - 1 - border[length - 1], best);
    }
    consider(row, differences, differences - border[differences], best);
    return best;
  }

  // That the first differences, so many, have this period.
  void consider(Words row, size_t differences, size_t period, Part& best) {
    const size_t length = differences + 1;
    if (length <= plain_up_to || length < 2 * period) return;
    Part part{length, period, row[period] - row[0], row.first(period), nullptr};
    if (period > plain_up_to) {
      part.head = std::make_shared<Form>(form_of(row.first(period)));
      part.plain = {};
    }
    const size_t words = words_of(part);
    if (2 * words > length) return;
    if (best.length == 0 || length * words_of(best) > best.length * words) best = std::move(part);
  }

  size_t looks_left_;
};

}  // namespace

// Lays a form out: the pieces of one list side by side, those of their heads behind them.
class RepeatedMaker {
 public:
  explicit RepeatedMaker(Repeated& made) : made_(made) {}

  void lay_out(const Form& form) {
    const size_t first = made_.pieces_.size();
    made_.pieces_.resize(first + form.parts.size());
    size_t end = 0;
    for (size_t i = 0; i < form.parts.size(); ++i) {
      const Part& part = form.parts[i];
      end += part.length;
      Repeated::Piece piece{static_cast<uint32_t>(end), static_cast<uint32_t>(part.period),
                            static_cast<int32_t>(part.step), 0, 0};
      if (part.head != nullptr) {
        piece.first = static_cast<uint32_t>(made_.pieces_.size());
        piece.pieces = static_cast<uint32_t>(part.head->parts.size());
        lay_out(*part.head);
      } else {
        piece.first = static_cast<uint32_t>(made_.numbers_.size());
        for (const Word number : part.plain) made_.numbers_.push_back(static_cast<int32_t>(number));
      }
      made_.pieces_[first + i] = piece;
    }
  }

 private:
  Repeated& made_;
};

Repeated::Repeated(const std::vector<int32_t>& numbers)
    : size_(static_cast<uint32_t>(numbers.size())) {
  if (numbers.empty()) return;
  if (numbers.size() <= plain_up_to) {
    own_pieces_ = 1;
    pieces_.assign(1, {size_, size_, 0, 0, 0});
    numbers_ = numbers;
    return;
  }
  const std::vector<Word> words(numbers.begin(), numbers.end());
  const Form form = Search(words.size()).form_of(words);
  own_pieces_ = static_cast<uint32_t>(form.parts.size());
  RepeatedMaker(*this).lay_out(form);
  pieces_.shrink_to_fit();
  numbers_.shrink_to_fit();
}

int32_t Repeated::operator[](size_t place) const {
  auto at = static_cast<uint32_t>(place);
  Word added = 0;
  for (uint32_t first = 0, pieces = own_pieces_;;) {
    const Piece* const list = pieces_.data() + first;
    const Piece* const piece =
        pieces == 1
            ? list
            : std::upper_bound(list, list + pieces, at,
                               [](uint32_t one, const Piece& other) { return one < other.end; });
    if (piece != list) at -= (piece - 1)->end;
    if (at >= piece->period) {
      added += at / piece->period * static_cast<Word>(piece->step);
      at %= piece->period;
    }
    if (piece->pieces == 0)
      return static_cast<int32_t>(static_cast<Word>(numbers_[piece->first + at]) + added);
    first = piece->first;
    pieces = piece->pieces;
  }
}

void Repeated::append(uint32_t first, uint32_t pieces, std::vector<int32_t>& to) const {
  const size_t start = to.size();
  for (uint32_t i = first; i < first + pieces; ++i) {
    const Piece& piece = pieces_[i];
    const size_t head = to.size(), end = start + piece.end;
    if (piece.pieces != 0)
      append(piece.first, piece.pieces, to);
    else
      to.insert(to.end(), numbers_.begin() + piece.first,
                numbers_.begin() + piece.first + piece.period);
    for (size_t at = head; to.size() < end; ++at) {
      to.push_back(static_cast<int32_t>(static_cast<Word>(to[at]) + static_cast<Word>(piece.step)));
    }
  }
}

std::vector<int32_t> Repeated::values() const {
  std::vector<int32_t> all;
  all.reserve(size_);
  append(0, own_pieces_, all);
  return all;
}

void Repeated::write(uint32_t first, uint32_t pieces, std::string& to) const {
  uint32_t begin = 0;
  for (uint32_t i = first; i < first + pieces; ++i) {
    const Piece& piece = pieces_[i];
    const uint32_t length = piece.end - begin;
    const bool repeats = length != piece.period;
    begin = piece.end;
    if (i != first) to += ',';
    if (repeats) to += '(';
    if (piece.pieces != 0) write(piece.first, piece.pieces, to);
    for (uint32_t at = 0; piece.pieces == 0 && at < piece.period; ++at) {
      if (at > 0) to += ',';
      to += std::to_string(numbers_[piece.first + at]);
    }
    if (!repeats) continue;
    to.append(")*").append(std::to_string(length));
    if (piece.step != 0) to.append(piece.step > 0 ? "+" : "").append(std::to_string(piece.step));
  }
}

std::string Repeated::text() const {
  std::string text;
  write(0, own_pieces_, text);
  return text;
}

namespace {

// Reads a row's text from its begin; what it leaves is for whoever asked.
class Reader {
 public:
  Reader(std::string_view text, size_t most) : rest_(text), most_(most) {}

  // One or more pieces.
  bool row(std::vector<int32_t>& to, int depth = 0) {
    do {
      if (!(take('(') ? piece(to, depth) : number(to))) return false;
    } while (take(','));
    return true;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  static constexpr int most_depth = 16;

  bool take(char wanted) {
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  template <class Number>
  bool read(Number& value) {
    const auto [next, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<size_t>(next - rest_.data()));
    return true;
  }
  bool number(std::vector<int32_t>& to) {
    int32_t value = 0;
    if (to.size() == most_ || !read(value)) return false;
    to.push_back(value);
    return true;
  }
  // From behind its first bracket.
  bool piece(std::vector<int32_t>& to, int depth) {
    const size_t head = to.size();
    uint32_t length = 0;
    int32_t step = 0;
    if (depth == most_depth || !row(to, depth + 1) || !take(')') || !take('*') || !read(length))
      return false;
    const bool sign = !rest_.empty() && (rest_.front() == '+' || rest_.front() == '-');
    if (take('+') && !rest_.empty() && rest_.front() == '-') return false;
    if (sign && !read(step)) return false;
    if (length < to.size() - head || length > most_ - head) return false;
    for (size_t at = head; to.size() < head + length; ++at) {
      to.push_back(static_cast<int32_t>(static_cast<Word>(to[at]) + static_cast<Word>(step)));
    }
    return true;
  }

  std::string_view rest_;
  const size_t most_;
};

}  // namespace

std::optional<Repeated> Repeated::read(std::string_view text, size_t most) {
  std::vector<int32_t> numbers;
  if (text.empty()) return Repeated();
  Reader reader(text, most);
  if (!reader.row(numbers) || !reader.at_end()) return std::nullopt;
  return Repeated(numbers);
}

}  // namespace tutti
