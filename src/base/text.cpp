#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <numeric>
#include <vector>

namespace tutti {

namespace {

// The bytes of the character at the beginning of a text, if they are UTF-8 that can be shown; else
// 0. Overlong forms and surrogates are not told apart from others: a terminal copes with them.
size_t bytes_of_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return first >= ' ' && first != 127 ? 1 : 0;
  size_t bytes = 0;
  if (first >= 0xc2 && first <= 0xdf) bytes = 2;
  if (first >= 0xe0 && first <= 0xef) bytes = 3;
  if (first >= 0xf0 && first <= 0xf4) bytes = 4;
  if (bytes == 0 || text.size() < bytes) return 0;
  for (const char c : text.substr(1, bytes - 1))
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) return 0;
  const bool is_control = first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
  return is_control ? 0 : bytes;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const size_t bytes = bytes_of_character(text);
    shown += bytes == 0 ? std::string_view("?") : text.substr(0, bytes);
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return shown;
}

std::string in_quotes(std::string_view text) {
  constexpr size_t most_shown = 200;  // a path fits
  size_t end = text.size();
  if (end > most_shown)  // not in the middle of a character
    for (end = most_shown; end > most_shown - 4 && (text[end] & 0xc0) == 0x80;) --end;
  return '"' + printable(text.substr(0, end)) + (end < text.size() ? "...\"" : "\"");
}

size_t edit_distance(std::string_view a, std::string_view b) {
  // row[j]: the distance of the part of a read so far to the first j characters of b.
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row[b.size()];
}

std::set<int> numbers_of(std::string_view list) {
  constexpr int most = 1 << 20;
  std::set<int> numbers;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    int low = -1;
    const char* const last = list.data() + end;
    auto [rest, error] = std::from_chars(list.data() + begin, last, low);
    int high = low;
    if (error == std::errc() && rest != last && *rest == '-') {
      const auto upper = std::from_chars(rest + 1, last, high);
      rest = upper.ptr, error = upper.ec;
    }
    if (error != std::errc() || rest != last || low < 0 || high < low || high - low > most)
      return {};
    for (int number = low; number <= high; ++number) numbers.insert(number);
    begin = end + 1;
  }
  return numbers;
}

std::string list_of(const std::set<int>& numbers) {
  std::string list;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const int low = *at;
    int high = low;
    for (++at; at != numbers.end() && *at == high + 1; ++at) ++high;
    if (!list.empty()) list += ',';
    list += std::to_string(low);
    if (high > low) list += '-' + std::to_string(high);
  }
  return list;
}

std::string bytes_as_written(uint64_t bytes) {
  static constexpr const char* suffixes[] = {"", "K", "M", "G"};
  size_t power = 0;
  while (power < 3 && bytes > 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++power;
  }
  return std::to_string(bytes) + suffixes[power];
}

std::string readable_bytes(uint64_t bytes) {
  static constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t power = 0;
  while (power < 4 && value >= 1024) {
    value /= 1024;
    ++power;
  }
  char text[64];
  snprintf(text, sizeof text, "%.1f", value);
  std::string number = text;
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return number + " " + units[power];
}

}  // namespace tutti
