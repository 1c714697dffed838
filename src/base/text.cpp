#include "base/text.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

namespace tutti {

std::string in_quotes(std::string_view text) {
  constexpr size_t most_shown = 200;  // a path fits
  std::string shown(text.substr(0, most_shown));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return (c >= 0 && c < ' ') || c == 127; }, '?');
  return '"' + shown + (text.size() > most_shown ? "...\"" : "\"");
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
