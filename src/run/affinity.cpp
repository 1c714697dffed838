#include "run/affinity.h"

#include <sched.h>
#include <unistd.h>

#include <cstddef>
#include <numeric>
#include <vector>

#include "topo/binding.h"

namespace tutti::run {
namespace {

constexpr size_t most_units = 4096;
constexpr size_t mask_bytes = CPU_ALLOC_SIZE(most_units);

}  // namespace

std::set<int> units_of(pid_t process) {
  std::vector<unsigned long> mask(mask_bytes / sizeof(unsigned long));
  auto* const set = reinterpret_cast<cpu_set_t*>(mask.data());
  std::set<int> units;
  if (sched_getaffinity(process, mask_bytes, set) != 0) return units;
  for (size_t unit = 0; unit < most_units; ++unit)
    if (CPU_ISSET_S(unit, mask_bytes, set)) units.insert(static_cast<int>(unit));
  return units;
}

bool bind_to(const std::set<int>& units) { return topo::bind_to({units.begin(), units.end()}); }

// The system leaves out of a binding what the cpuset does not have, so a binding to all units shows
// the cpuset.
std::set<int> units_of_cpuset() {
  const std::set<int> now = units_of(0);
  std::vector<int> numbers(most_units);
  std::iota(numbers.begin(), numbers.end(), 0);
  if (!bind_to({numbers.begin(), numbers.end()})) return now;
  const std::set<int> all = units_of(0);
  return bind_to(now) ? all : now;
}

bool is_bound() {
  const std::set<int> usable = units_of(0);
  return usable.size() < 2 || usable != units_of(getppid());
}

}  // namespace tutti::run
