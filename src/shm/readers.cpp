#include "shm/readers.h"

#include <sys/prctl.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <mutex>
#include <set>

namespace tutti::shm {
namespace {

// The parent in the kernel's line "PID (NAME) STATE PARENT ...", in which NAME may contain any
// character; 0 if there is none.
pid_t parent_of(pid_t process, const std::string& proc) {
  std::ifstream file(proc + "/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  constexpr size_t to_parent = 4;  // past ") S "
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos || line.size() < name_end + to_parent) return 0;
  pid_t parent = 0;
  std::from_chars(line.data() + name_end + to_parent, line.data() + line.size(), parent);
  return parent;
}

}  // namespace

bool naming_readers_helps(const std::string& scope_file) {
  std::ifstream file(scope_file);
  int scope = 0;
  return file >> scope && scope == 1;
}

std::vector<pid_t> ancestry(pid_t process, const std::string& proc) {
  std::vector<pid_t> line;
  // Process numbers are reused, so a line that is read while processes end could be a circle.
  while (process > 0 && std::find(line.begin(), line.end(), process) == line.end()) {
    line.push_back(process);
    process = parent_of(process, proc);
  }
  return line;
}

pid_t nearest_in_all(const std::vector<std::vector<pid_t>>& ancestries) {
  if (ancestries.empty()) return 0;
  for (const pid_t candidate : ancestries.front()) {
    const auto has_it = [&](const std::vector<pid_t>& line) {
      return std::find(line.begin(), line.end(), candidate) != line.end();
    };
    if (std::all_of(ancestries.begin(), ancestries.end(), has_it)) return candidate;
  }
  return 0;
}

void let_read(const std::vector<pid_t>& processes) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  static std::set<pid_t>& readers = *new std::set<pid_t>;
  readers.insert(processes.begin(), processes.end());
  if (readers.empty() || !naming_readers_helps()) return;
  std::vector<std::vector<pid_t>> ancestries;
  for (const pid_t reader : readers) ancestries.push_back(ancestry(reader));
  if (const pid_t named = nearest_in_all(ancestries); named > 0)
    prctl(PR_SET_PTRACER, named, 0, 0, 0);
}

}  // namespace tutti::shm
