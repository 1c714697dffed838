#include "group/known_calls.h"

#include <algorithm>
#include <bitset>
#include <utility>

namespace tutti::group {

KnownCall::KnownCall(const CallKey& its_key, const exec::Start& its_start,
                     const exec::Operation& its_operation)
    : key(its_key), operation(its_operation), start(its_start) {
  operation.in = nullptr;
  operation.out = nullptr;
  if (operation.combine != nullptr) {
    combine = *operation.combine;
    operation.combine = &combine;
  }
  if (start.step_count > most_steps) return;
  std::copy_n(start.steps, start.step_count, steps);
  start.steps = steps;
}

// Copies a call; pointers into the other call become pointers into this one.
KnownCall& KnownCall::operator=(const KnownCall& other) {
  key = other.key;
  operation = other.operation;
  start = other.start;
  combine = other.combine;
  std::copy(std::begin(other.steps), std::end(other.steps), steps);
  if (other.operation.combine == &other.combine) operation.combine = &combine;
  if (other.start.steps == other.steps) start.steps = steps;
  return *this;
}

namespace {

// The next number of SplitMix64, made odd (Steele, Lea, Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014).
uint64_t next_multiplier(uint64_t& state) {
  uint64_t mixed = state += 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
  return (mixed ^ mixed >> 31) | 1;
}

constexpr int tries = 64;  // multipliers tried for each size of the table

}  // namespace

void KnownCalls::note(const KnownCall& call) {
  if (const KnownCall& entry = entry_of(call.key);
      entry.key.is_call() && !(entry.key == call.key) && !uses_neighbours_)
    make_room(call.key);
  entry_for(call.key) = call;
}

// The entry in which a call is stored: its own if that is free, has the same key, or if entries
// beside are not used; else the one beside it.
KnownCall& KnownCalls::entry_for(const CallKey& key) {
  KnownCall& own = entry_of(key);
  return !uses_neighbours_ || !own.key.is_call() || own.key == key ? own : beside(own);
}

// Builds the table again so that all calls and a new one have entries of their own. If no size and
// multiplier give that, calls may use the entries beside their own from now on.
void KnownCalls::make_room(const CallKey& key) {
  std::vector<CallKey> keys{key};
  for (const KnownCall& known : calls_)
    if (known.key.is_call()) keys.push_back(known.key);
  uint64_t state = 0;
  for (size_t entries = calls_.size(); entries <= most; entries *= 2)
    for (int i = 0; i < tries; ++i) {
      const uint64_t multiplier = next_multiplier(state);
      std::bitset<most> taken;
      const auto alone = [&](const CallKey& one) {
        const size_t at = one.hash(multiplier) & (entries - 1);
        const bool is_free = !taken[at];
        taken.set(at);
        return is_free;
      };
      if (std::all_of(keys.begin(), keys.end(), alone)) return move(entries, multiplier);
    }
  uses_neighbours_ = true;
  move(most, multiplier_);
}

void KnownCalls::move(size_t entries, uint64_t multiplier) {
  std::vector<KnownCall> before(entries);
  before.swap(calls_);
  mask_ = entries - 1;
  multiplier_ = multiplier;
  for (const KnownCall& known : before)
    if (known.key.is_call()) entry_for(known.key) = known;
}

void KnownCalls::clear() {
  calls_.assign(calls_.size(), {});
  uses_neighbours_ = false;
}

}  // namespace tutti::group
