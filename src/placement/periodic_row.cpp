#include "placement/periodic_row.h"

#include <utility>
#include <algorithm>
#include <charconv>

namespace tutti::placement {
namespace {

// Rows of up to this many numbers are kept as they are, because there is little to save.
constexpr size_t plain_up_to = 32;
// Periods within periods that a text may have. Each is at least twice as long as the next, so
// text() writes fewer.
constexpr size_t most_periods = 32;

// Sums and differences wrap, so that any two numbers have one.
int32_t sum(int32_t one, int32_t other) {
  return static_cast<int32_t>(static_cast<uint32_t>(one) + static_cast<uint32_t>(other));
}
int32_t difference(int32_t one, int32_t other) {
  return static_cast<int32_t>(static_cast<uint32_t>(one) - static_cast<uint32_t>(other));
}

// The shortest period of a row, which is the row's length if it does not repeat. A row repeats if
// the differences between neighbours do; their period follows from the longest border (a proper
// prefix that is also a suffix), as in the Knuth-Morris-Pratt search.
size_t shortest_period(const std::vector<int32_t>& row) {
  const auto step = [&](size_t i) { return difference(row[i + 1], row[i]); };
  const size_t steps = row.size() - 1;
  std::vector<uint32_t> border(steps + 1, 0);  // indexed by length of the prefix
  for (size_t length = 2; length <= steps; ++length) {
    uint32_t shorter = border[length - 1];
    while (shorter > 0 && step(shorter) != step(length - 1)) shorter = border[shorter];
    border[length] = step(shorter) == step(length - 1) ? shorter + 1 : 0;
  }
  const size_t period = steps - border[steps];
  return 2 * period <= row.size() ? period : row.size();
}

// Takes one character, or a number, from the front of a text. False if it is not there.
bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}
template <class Number>
bool take_number(std::string_view& text, Number& value) {
  const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(next - text.data()));
  return true;
}
// `+STEP`, `-STEP` or nothing.
bool take_step(std::string_view& text, int32_t& step) {
  if (take(text, '+')) return !text.starts_with('-') && take_number(text, step);
  return !text.starts_with('-') || take_number(text, step);
}

}  // namespace

PeriodicRow::PeriodicRow(std::vector<int32_t> numbers) {
  while (numbers.size() > plain_up_to) {
    const size_t period = shortest_period(numbers);
    if (period == numbers.size()) break;
    periods_.push_back({static_cast<uint32_t>(numbers.size()), static_cast<uint32_t>(period),
                        difference(numbers[period], numbers[0])});
    numbers.resize(period);
  }
  periods_.shrink_to_fit();
  numbers_.assign(numbers.begin(), numbers.end());  // without the memory of the whole row
}

int32_t PeriodicRow::operator[](size_t index) const {
  auto at = static_cast<uint32_t>(index);
  uint32_t added = 0;
  for (const Period& period : periods_) {
    added += at / period.length * static_cast<uint32_t>(period.step);
    at %= period.length;
  }
  return sum(numbers_[at], static_cast<int32_t>(added));
}

std::vector<int32_t> PeriodicRow::repeated(std::vector<int32_t> period, size_t size, int32_t step) {
  const size_t length = period.size();
  period.reserve(size);
  while (period.size() < size) period.push_back(sum(period[period.size() - length], step));
  return period;
}

std::vector<int32_t> PeriodicRow::values() const {
  std::vector<int32_t> all = numbers_;
  for (size_t i = periods_.size(); i-- > 0;)
    all = repeated(std::move(all), periods_[i].size, periods_[i].step);
  return all;
}

std::string PeriodicRow::text() const {
  std::string text(periods_.size(), '(');
  for (size_t i = 0; i < numbers_.size(); ++i)
    text.append(i > 0 ? "," : "").append(std::to_string(numbers_[i]));
  for (size_t i = periods_.size(); i-- > 0;) {
    text.append(")*").append(std::to_string(periods_[i].size));
    const int32_t step = periods_[i].step;
    if (step != 0) text.append(step > 0 ? "+" : "").append(std::to_string(step));
  }
  return text;
}

std::optional<PeriodicRow> PeriodicRow::read(std::string_view text, size_t most) {
  if (text.empty()) return PeriodicRow();
  size_t periods = 0;
  while (take(text, '(')) ++periods;
  std::vector<int32_t> numbers;
  do {
    int32_t number = 0;
    if (numbers.size() == most || !take_number(text, number)) return std::nullopt;
    numbers.push_back(number);
  } while (take(text, ','));
  if (periods > most_periods) return std::nullopt;
  for (; periods > 0; --periods) {
    uint32_t size = 0;
    int32_t step = 0;
    if (!take(text, ')') || !take(text, '*') || !take_number(text, size) || !take_step(text, step))
      return std::nullopt;
    if (size < numbers.size() || size > most) return std::nullopt;
    numbers = repeated(std::move(numbers), size, step);
  }
  return text.empty() ? std::optional(PeriodicRow(std::move(numbers))) : std::nullopt;
}

}  // namespace tutti::placement
