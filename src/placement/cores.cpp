#include "placement/cores.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/hash.h"
#include "topo/kernel_files.h"

namespace tutti::placement {

constexpr size_t word_bits = 8 * sizeof(unsigned long);

CoreMask usable_cores(int64_t process) {
  CoreMask mask;
  std::array<unsigned long, most_cores / word_bits> words{};  // the system's form of a set
  if (sched_getaffinity(static_cast<pid_t>(process), sizeof words,
                        reinterpret_cast<cpu_set_t*>(words.data())) != 0)
    return mask;
  for (size_t word = 0; word < words.size(); ++word)
    for (unsigned long rest = words[word]; rest != 0; rest &= rest - 1)
      mask.set(word * word_bits + static_cast<size_t>(std::countr_zero(rest)));
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
  const size_t count = mask.count();
  for (size_t unit = 0; units.size() < count; ++unit)
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
