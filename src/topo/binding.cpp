// The processing units that this process may run on. In a file of its own, so that libraries
// without hwloc can link it.
#include <sched.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "topo/binding.h"
#include "topo/tree.h"

namespace tutti::topo {
namespace {

// The binding of a thread; thread 0 is the calling thread.
std::vector<int> binding_of(pid_t thread) {
  // The kernel refuses a mask that is too small for its processing units: grow until it fits.
  constexpr int most_units = 1 << 20;
  for (int units = CPU_SETSIZE; units <= most_units; units *= 2) {
    cpu_set_t* set = CPU_ALLOC(units);
    if (set == nullptr) return {};
    const size_t bytes = CPU_ALLOC_SIZE(units);
    CPU_ZERO_S(bytes, set);
    const bool told = sched_getaffinity(thread, bytes, set) == 0;
    const bool too_small = !told && errno == EINVAL;
    std::vector<int> bound;
    for (int unit = 0; told && unit < units; ++unit) {
      if (CPU_ISSET_S(unit, bytes, set)) bound.push_back(unit);
    }
    CPU_FREE(set);
    if (!too_small) return bound;
  }
  return {};
}

}  // namespace

bool bind_to(const std::vector<int>& units) {
  if (units.empty()) return true;
  const int most = *std::max_element(units.begin(), units.end()) + 1;
  cpu_set_t* const set = CPU_ALLOC(most);
  if (set == nullptr) return false;
  const size_t bytes = CPU_ALLOC_SIZE(most);
  CPU_ZERO_S(bytes, set);
  for (const int unit : units) CPU_SET_S(static_cast<size_t>(unit), bytes, set);
  const bool bound = sched_setaffinity(0, bytes, set) == 0;
  const int error = errno;
  CPU_FREE(set);
  errno = error;
  return bound;
}

std::vector<int> binding() { return binding_of(0); }

std::vector<int> binding_of_process() {
  std::vector<int> units = binding();
  std::error_code unreadable;
  std::filesystem::directory_iterator task("/proc/self/task", unreadable);
  for (; !unreadable && task != std::filesystem::directory_iterator(); task.increment(unreadable)) {
    const std::string name = task->path().filename().string();
    pid_t thread = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), thread).ec != std::errc{}) continue;
    const std::vector<int> bound = binding_of(thread);  // empty if the thread has ended meanwhile
    units.insert(units.end(), bound.begin(), bound.end());
  }
  std::sort(units.begin(), units.end());
  units.erase(std::unique(units.begin(), units.end()), units.end());
  return units;
}

}  // namespace tutti::topo
