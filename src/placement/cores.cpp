#include "placement/cores.h"

#include <sched.h>

#include <algorithm>

#include "base/hash.h"
#include "topo/kernel_files.h"

namespace tutti::placement {

CoreMask usable_cores(int64_t process) {
  CoreMask mask;
  cpu_set_t* const set = CPU_ALLOC(most_cores);
  if (set == nullptr) return mask;
  const size_t bytes = CPU_ALLOC_SIZE(most_cores);
  CPU_ZERO_S(bytes, set);
  if (sched_getaffinity(static_cast<pid_t>(process), bytes, set) == 0)
    for (size_t core = 0; core < most_cores; ++core) mask[core] = CPU_ISSET_S(core, bytes, set);
  CPU_FREE(set);
  return mask;
}

Place present_place() { return {usable_cores(), sched_getcpu()}; }

std::vector<CoreMask> usable_cores(const std::vector<Place>& places) {
  std::vector<CoreMask> masks;
  for (const Place& place : places) masks.push_back(place.usable);
  return masks;
}

std::vector<CoreMask> settled(const std::vector<Place>& places) {
  std::vector<CoreMask> present;
  CoreMask taken;
  for (const Place& place : places) {
    const auto core = static_cast<size_t>(place.present);  // huge if it is not known
    if (core >= most_cores || !place.usable[core] || taken[core]) return usable_cores(places);
    taken.set(core);
    present.push_back(CoreMask().set(core));
  }
  return present;
}

uint64_t kernel_identity() {
  const std::string text = topo::first_line("/proc/sys/kernel/random/boot_id");
  return text.empty() ? 0 : hashed(hash_of_nothing, text);
}

namespace {

bool confined_to(const CoreMask& mask, const CoreMask& set) { return (mask & ~set).none(); }

// The sets of cores that hold more ranks than cores.
std::vector<CoreMask> full_sets(const std::vector<CoreMask>& masks) {
  CoreMask all;
  for (const CoreMask& mask : masks) all |= mask;
  std::vector<CoreMask> sets{all};
  for (const CoreMask& mask : masks)
    if (std::find(sets.begin(), sets.end(), mask) == sets.end()) sets.push_back(mask);
  std::erase_if(sets, [&](const CoreMask& set) {
    const auto confined = std::count_if(
        masks.begin(), masks.end(), [&](const CoreMask& mask) { return confined_to(mask, set); });
    return static_cast<size_t>(confined) <= set.count();
  });
  return sets;
}

}  // namespace

bool oversubscribed(const std::vector<CoreMask>& masks) { return !full_sets(masks).empty(); }

bool shares_core(const std::vector<CoreMask>& masks, size_t rank) {
  const std::vector<CoreMask> sets = full_sets(masks);
  return std::any_of(sets.begin(), sets.end(),
                     [&](const CoreMask& set) { return confined_to(masks[rank], set); });
}

namespace {

std::vector<int> units_of(const CoreMask& mask) {
  std::vector<int> units;
  for (size_t unit = 0; unit < most_cores; ++unit)
    if (mask[unit]) units.push_back(static_cast<int>(unit));
  return units;
}

std::vector<int> units_of_all(const std::vector<CoreMask>& masks) {
  CoreMask all;
  for (const CoreMask& mask : masks) all |= mask;
  return units_of(all);
}

}  // namespace

topo::Shape shape_of(const std::vector<CoreMask>& masks, const std::string& given) {
  const topo::Shape shape = topo::given_shape(given);
  return shape.empty() ? topo::shape_of_node(units_of_all(masks)) : shape;
}

Levels levels_of(const std::vector<CoreMask>& masks, const std::string& given) {
  std::vector<std::vector<int>> bindings;
  for (const CoreMask& mask : masks) bindings.push_back(units_of(mask));
  return levels_of_bound(bindings, given);
}

}  // namespace tutti::placement
