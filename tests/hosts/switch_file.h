// The delays and rates of tests/hosts/switch, which it reads from a file whenever they change.
//
// The file has lines of words. Delays are in nanoseconds, rates in bits per second (0: no limit):
//
//   delay NANOSECONDS
//       the delay between any two nodes
//   port DEVICE GROUP
//       a device to forward from and to; group 0 has no delay to any group
//   between A B NANOSECONDS RATE
//       the additional delay from group A to group B, and the rate of the one link of all nodes of
//       A
#pragma once

#include <cstddef>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using Nanoseconds = std::int64_t;
constexpr Nanoseconds SECOND = 1'000'000'000;

// The link from one group of ports to another.
struct Way {
  Nanoseconds delay = 0;
  std::int64_t bits_per_second = 0;
  Nanoseconds free_at = 0;  // when its last frame so far leaves

  Nanoseconds time(std::size_t bytes) const {
    if (bits_per_second == 0) return 0;
    return static_cast<Nanoseconds>(static_cast<double>(bytes) * 8e9 /
                                    static_cast<double>(bits_per_second));
  }
};

struct Port {
  std::string device;
  int group = 0;
  int socket = -1;  // the switch opens it
};

[[noreturn]] inline void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

// The contents of the file.
struct Numbers {
  Nanoseconds delay = 0;
  std::vector<Port> ports;
  std::map<std::pair<int, int>, Way> between;
};

inline Numbers read_file(const std::string& file) {
  std::ifstream lines(file);
  if (!lines) fail(file);
  Numbers numbers;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "delay") {
      words >> numbers.delay;
    } else if (kind == "port") {
      Port& port = numbers.ports.emplace_back();
      words >> port.device >> port.group;
    } else if (kind == "between") {
      int a = 0, b = 0;
      Way way;
      words >> a >> b >> way.delay >> way.bits_per_second;
      numbers.between[{a, b}] = way;
    } else {
      words.setstate(std::ios::failbit);
    }
    if (!words || words >> kind)
      throw std::runtime_error(file + ":" + std::to_string(number) + ": cannot read '" + line +
                               "'");
  }
  return numbers;
}
