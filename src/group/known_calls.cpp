#include "group/known_calls.h"

namespace tutti::group {

void KnownCalls::note(const CallKey& key, const exec::BoundProgram& bound, const exec::Operation& operation) {
  KnownCall noted;
  noted.key = key;
  noted.bound = &bound;
  noted.operation = operation;
  noted.operation.in = nullptr;
  noted.operation.out = nullptr;
  while (calls_[key.hash() & mask_].bound != nullptr && !(calls_[key.hash() & mask_].key == key) && calls_.size() < most) {
    std::vector<KnownCall> before(2 * calls_.size());
    before.swap(calls_);
    mask_ = calls_.size() - 1;
    for (const KnownCall& call : before)
      if (call.bound != nullptr) calls_[call.key.hash() & mask_] = call;
  }
  calls_[key.hash() & mask_] = noted;
}

void KnownCalls::clear() { calls_.assign(calls_.size(), {}); }

}  // namespace tutti::group
