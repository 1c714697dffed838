// Changes of whole lines and numbers of a text. Plans whose bytes are changed at random can seldom
// be read, so half of all changes are of this kind instead. All targets link this file; libFuzzer
// calls it.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace tutti::fuzz {
namespace {

using Random = std::minstd_rand;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Replaces a number: by one more or less, by a small number, or by one at the bounds of the
// formats.
void change_number(std::string& line, Random& random) {
  static constexpr std::array<std::string_view, 7> bounds = {
      "0", "1", "2", "1048575", "1048576", "2147483647", "2147483648"};
  const size_t from = random() % line.size();
  size_t begin = from;
  do {
    if (is_digit(line[begin])) break;
    begin = (begin + 1) % line.size();
  } while (begin != from);
  if (!is_digit(line[begin])) return;
  size_t end = begin;
  while (end < line.size() && is_digit(line[end])) ++end;
  std::string number = line.substr(begin, end - begin);
  const auto choice = random() % 4;
  if (choice == 0) {
    number = bounds[random() % bounds.size()];
  } else if (choice == 1 && number.size() < 9) {
    number = std::to_string(std::max(std::stoi(number) + (random() % 2 == 0 ? 1 : -1), 0));
  } else {
    number = std::to_string(random() % 10);
  }
  line.replace(begin, end - begin, number);
}

void change_lines(std::vector<std::string>& lines, Random& random) {
  const auto any = [&] { return static_cast<std::ptrdiff_t>(random() % lines.size()); };
  const auto from = any(), to = any();
  switch (random() % 5) {
    case 0: lines.erase(lines.begin() + from); break;
    case 1: lines.insert(lines.begin() + to, std::string(lines[from])); break;
    case 2: std::swap(lines[from], lines[to]); break;
    default:
      if (!lines[from].empty()) change_number(lines[from], random);
  }
}

}  // namespace
}  // namespace tutti::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  tutti::fuzz::Random random(seed + 1);
  auto lines = tutti::fuzz::lines_of({reinterpret_cast<const char*>(data), size});
  if (lines.empty() || random() % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  for (auto changes = 1 + random() % 3; changes > 0 && !lines.empty(); --changes)
    tutti::fuzz::change_lines(lines, random);
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  text.resize(std::min(text.size(), max_size));
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
