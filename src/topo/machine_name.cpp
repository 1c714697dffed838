#include "topo/machine_name.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "base/text.h"
#include "topo/kernel_files.h"

namespace tutti::topo {

std::string processor_name() {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with("model name") && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  utsname system;
  return uname(&system) == 0 ? system.machine : "";
}

std::string as_file_name(const std::string& name) {
  const auto stays = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' ||
           c == '_';
  };
  std::string text;
  for (const char c : name) {
    if (stays(c))
      text += c;
    else if (!text.empty() && text.back() != '-')
      text += '-';
  }
  if (text.ends_with('-')) text.pop_back();
  return text;
}

std::string machine_name(const std::string& processor, const std::string& system) {
  std::set<int> sockets;
  std::set<std::string> cores;
  for (const int unit : numbers_of(first_line(system + "/cpu/online"))) {
    const std::string topology = system + "/cpu/cpu" + std::to_string(unit) + "/topology";
    const std::string siblings = first_line(topology + "/thread_siblings_list");
    cores.insert(siblings.empty() ? std::to_string(unit) : siblings);
    sockets.insert(socket_of(unit, system));
  }
  if (cores.empty()) return as_file_name(processor);
  return as_file_name(processor) + "." + std::to_string(sockets.size()) + "x" +
         std::to_string(cores.size() / sockets.size());
}

}  // namespace tutti::topo
