// Calls that a group has made before, by what its caller knows them by: the handles of datatype and
// operation, the count, the root.
//
// A call that is found here runs at once: neither its bytes nor its combination nor its program are
// looked for. All that the executor needs of it lies side by side, the steps of a short program
// too, and is fetched as soon as its place is known: a call that was not made lately waits for
// memory once and not for one pointer after another. Owned by a group and used by its thread alone.
//
// Each call has a place of its own. If a new call's place is taken, the table is made anew, with
// another multiplier of the hash or twice as large, up to `most` places. If that does not help
// either (with some fifty calls), a call may lie in the place beside its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/prefetch.h"
#include "exec/bound.h"

namespace tutti::group {

// What tells calls of a communicator apart. Handles are the caller's words, 0 where a call has
// none.
struct CallKey {
  uint64_t type = 0;
  uint64_t op = 0;
  uint64_t count = 0;  // of elements
  uint64_t collective_and_root = UINT64_MAX;

  CallKey() = default;
  CallKey(plan::Collective collective, int root, uint64_t its_type, uint64_t its_op,
          uint64_t its_count)
      : type(its_type),
        op(its_op),
        count(its_count),
        collective_and_root(static_cast<uint64_t>(collective) << 32 | static_cast<uint32_t>(root)) {
  }
  bool operator==(const CallKey&) const = default;
  bool is_call() const { return collective_and_root != UINT64_MAX; }

  // By an odd multiplier.
  uint64_t hash(uint64_t multiplier) const {
    uint64_t mixed = type + count * 0x9E3779B97F4A7C15u + collective_and_root * 0xC2B2AE3D27D4EB4Fu;
    mixed = (mixed ^ mixed >> 29) + op;
    return mixed * multiplier >> 32;
  }
};

struct alignas(512) KnownCall {  // a power of two, so that its place takes one instruction
  static constexpr uint32_t most_steps = 3;
  static constexpr size_t used_bytes = 448;

  CallKey key;
  exec::Operation operation;  // but for its buffers
  exec::Start start;
  exec::Combine combine;                   // the operation's, if it has one
  exec::BoundStep steps[most_steps] = {};  // the program's, if they are no more

  KnownCall() = default;
  KnownCall(const CallKey& its_key, const exec::Start& its_start,
            const exec::Operation& its_operation);
  KnownCall(const KnownCall& other) { *this = other; }
  KnownCall& operator=(const KnownCall& other);

  const void* kernel() const { return reinterpret_cast<const void*>(combine.kernel); }
};
static_assert(sizeof(KnownCall) == 512 &&
              offsetof(KnownCall, steps) + sizeof KnownCall::steps == KnownCall::used_bytes);

class KnownCalls {
 public:
  // Null where the call is not known.
  KnownCall* find(const CallKey& key) {
    KnownCall& call = place_of(key);
    prefetch<64, KnownCall::used_bytes>(&call);  // its first line is read at once
    if (call.key == key) [[likely]]
      return &call;
    return oversubscribed_ && beside(call).key == key ? &beside(call) : nullptr;
  }
  void note(const KnownCall& call);
  void clear();

 private:
  static constexpr size_t least = 4, most = 512;

  KnownCall& place_of(const CallKey& key) { return calls_[key.hash(multiplier_) & mask_]; }
  KnownCall& beside(const KnownCall& call) {
    return calls_[static_cast<size_t>(&call - calls_.data()) ^ 1];
  }
  KnownCall& place_for(const CallKey& key);
  void make_room(const CallKey& key);
  void move(size_t places, uint64_t multiplier);

  std::vector<KnownCall> calls_ = std::vector<KnownCall>(least);
  size_t mask_ = least - 1;
  uint64_t multiplier_ = 0xBF58476D1CE4E5B9u;
  bool oversubscribed_ = false;  // there is no room for all of them to have places of their own
};

}  // namespace tutti::group
