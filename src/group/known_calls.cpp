#include "group/known_calls.h"

#include <algorithm>
#include <utility>

namespace tutti::group {

KnownCall::KnownCall(const CallKey& its_key, const exec::Start& its_start, const exec::Operation& its_operation)
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

// What points into the other points into this one.
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

void KnownCalls::note(const KnownCall& call) {
  while (place_of(call.key).key.is_call() && !(place_of(call.key).key == call.key) && calls_.size() < most) {
    std::vector<KnownCall> before(2 * calls_.size());
    before.swap(calls_);
    mask_ = calls_.size() - 1;
    for (const KnownCall& known : before)
      if (known.key.is_call()) place_of(known.key) = known;
  }
  place_of(call.key) = call;
}

void KnownCalls::clear() { calls_.assign(calls_.size(), {}); }

}  // namespace tutti::group
