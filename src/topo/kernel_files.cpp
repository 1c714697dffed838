#include "topo/kernel_files.h"

#include <charconv>
#include <fstream>

#include "base/text.h"

namespace tutti::topo {

std::string first_line(const std::string& name) {
  std::ifstream file(name);
  std::string line;
  std::getline(file, line);
  return line;
}

std::map<int, int> regions_of(const std::string& system) {
  std::map<int, int> regions;
  for (const int region : numbers_of(first_line(system + "/node/online"))) {
    for (const int unit :
         numbers_of(first_line(system + "/node/node" + std::to_string(region) + "/cpulist"))) {
      regions[unit] = region;
    }
  }
  return regions;
}

int socket_of(int unit, const std::string& system) {
  const std::string text =
      first_line(system + "/cpu/cpu" + std::to_string(unit) + "/topology/physical_package_id");
  int socket = -1;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), socket);
  return error == std::errc() && rest == text.data() + text.size() && socket >= 0 ? socket : -1;
}

}  // namespace tutti::topo
