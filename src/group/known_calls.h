// A table of the calls that a group has made before. The key of a call contains only arguments of
// the MPI call: the handles of datatype and operation, the count and the root.
//
// A call that is found here runs at once, without looking up its bytes, its combination or its
// program. Everything that the executor needs for the call is stored side by side, with the steps
// of a short program, and is prefetched as soon as the call's entry is known. So a call that was
// not made lately waits for memory once and not for one pointer after another. A group owns the
// table, and only the thread that uses the group uses it.
//
// Each call has an entry of its own. If the entry of a new call is taken, the table is built again,
// with another multiplier of the hash or twice as large, up to `most` entries. If that does not
// help either (with some fifty calls), a call may use the entry beside its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/prefetch.h"
#include "exec/bound.h"

namespace tutti::group {

// The key of a call of a communicator. Handles are the caller's words, 0 if a call has none.
struct CallKey {
  uint64_t type = 0;
  uint64_t op = 0;
  uint64_t count = 0;  // the number of elements
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

  // The multiplier is odd.
  uint64_t hash(uint64_t multiplier) const {
    uint64_t mixed = type + count * 0x9E3779B97F4A7C15u + collective_and_root * 0xC2B2AE3D27D4EB4Fu;
    mixed = (mixed ^ mixed >> 29) + op;
    return mixed * multiplier >> 32;
  }
};

// A call that was made before, with all that the executor needs to run it again. `start` points to
// a bound program of the group, which clears the table before it destroys its programs. The size is
// a power of two, so that the address of an entry takes one instruction.
struct alignas(512) KnownCall {
  static constexpr uint32_t most_steps = 3;
  static constexpr size_t used_bytes = 448;

  CallKey key;
  exec::Operation operation;  // without its buffers
  exec::Start start;
  exec::Combine combine;                   // a copy of the operation's, if it has one
  exec::BoundStep steps[most_steps] = {};  // a copy of the program's, if they fit

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
  // The entry of the call, valid until the next note() or clear(); null if the call is not known.
  KnownCall* find(const CallKey& key) {
    KnownCall& call = entry_of(key);
    prefetch<64, KnownCall::used_bytes>(&call);  // its first line is read at once
    if (call.key == key) [[likely]]
      return &call;
    return uses_neighbours_ && beside(call).key == key ? &beside(call) : nullptr;
  }
  // Stores a copy of the call, which may replace another call.
  void note(const KnownCall& call);
  void clear();

 private:
  static constexpr size_t least = 4, most = 512;

  KnownCall& entry_of(const CallKey& key) { return calls_[key.hash(multiplier_) & mask_]; }
  KnownCall& beside(const KnownCall& call) {
    return calls_[static_cast<size_t>(&call - calls_.data()) ^ 1];
  }
  KnownCall& entry_for(const CallKey& key);
  void make_room(const CallKey& key);
  void move(size_t entries, uint64_t multiplier);

  std::vector<KnownCall> calls_ = std::vector<KnownCall>(least);
  size_t mask_ = least - 1;
  uint64_t multiplier_ = 0xBF58476D1CE4E5B9u;
  bool uses_neighbours_ = false;  // calls may be in the entries beside their own
};

}  // namespace tutti::group
