// A table of communicators by handle, in which a call finds its communicator without a lock.
//
// Any thread may search the table at any time; a thread that changes it holds its owner's lock. A
// slot keeps its handle for as long as the table lives, so that a search passes over communicators
// that have ended. When the slots are half full, a table of twice as many replaces them; the old
// ones stay allocated, because threads may still search them. MPI reuses handles, so there are few
// tables. A thread that makes a call on a communicator knows that the communicator was made, so the
// search gives this communicator or nothing, and never an older one that had the same handle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "shm/order.h"

namespace tutti::group {

class Group;

// `Communicator` is the caller's type. The table owns neither the communicators nor their groups.
template <class Communicator>
class HandleTable {
 public:
  struct Entry {
    Communicator* communicator = nullptr;  // null: the handle has none, or it has ended
    Group* group = nullptr;
  };

  HandleTable() { use(std::make_unique<Slots>(first_size)); }

  Entry find(uint64_t handle) const {
    const Slots& slots = *reinterpret_cast<const Slots*>(shm::observe(current_));
    for (size_t at = slots.place_of(handle);; at = slots.after(at)) {
      const Slot& slot = slots.slots[at];
      const uint64_t its = shm::observe(slot.handle);
      if (its == handle)
        return {reinterpret_cast<Communicator*>(shm::load_relaxed(slot.communicator)),
                reinterpret_cast<Group*>(shm::load_relaxed(slot.group))};
      if (its == none) return {};
    }
  }

  void put(uint64_t handle, const Entry& entry) {
    if (2 * (latest().used + 1) > latest().slots.size()) {
      auto next = std::make_unique<Slots>(2 * latest().slots.size());
      for (const Slot& slot : latest().slots)
        if (const uint64_t its = shm::load_relaxed(slot.handle); its != none)
          next->put(its, shm::load_relaxed(slot.communicator), shm::load_relaxed(slot.group));
      use(std::move(next));
    }
    latest().put(handle, reinterpret_cast<uint64_t>(entry.communicator),
                 reinterpret_cast<uint64_t>(entry.group));
  }

  void remove(uint64_t handle) {
    for (size_t at = latest().place_of(handle);; at = latest().after(at)) {
      Slot& slot = latest().slots[at];
      const uint64_t its = shm::load_relaxed(slot.handle);
      if (its == handle) shm::store_relaxed(slot.communicator, 0);
      if (its == handle || its == none) return;
    }
  }

  void clear() {
    for (Slot& slot : latest().slots) shm::store_relaxed(slot.communicator, 0);
  }

 private:
  static constexpr size_t first_size = 64;
  static constexpr uint64_t none = UINT64_MAX;  // no program has this handle, integer or address
  struct Slot {
    shm::Word handle{none};
    shm::Word communicator{0};  // addresses; this one is 0 if the communicator has ended
    shm::Word group{0};
  };
  struct Slots {
    explicit Slots(size_t size) : mask(size - 1), slots(size) {}
    size_t place_of(uint64_t handle) const { return (handle * 0x9E3779B97F4A7C15u) >> 32 & mask; }
    size_t after(size_t at) const { return (at + 1) & mask; }

    // Publishes the handle, for which other threads search, after the communicator.
    void put(uint64_t handle, uint64_t communicator, uint64_t group) {
      size_t at = place_of(handle);
      for (uint64_t its; (its = shm::load_relaxed(slots[at].handle)) != none && its != handle;)
        at = after(at);
      Slot& slot = slots[at];
      shm::store_relaxed(slot.group, group);
      shm::store_relaxed(slot.communicator, communicator);
      if (shm::load_relaxed(slot.handle) != handle) ++used;
      shm::publish(slot.handle, handle);
    }

    size_t mask;
    size_t used = 0;  // slots with a handle, also of communicators that have ended
    std::vector<Slot> slots;
  };
  Slots& latest() const { return *all_.back(); }
  void use(std::unique_ptr<Slots> slots) {
    all_.push_back(std::move(slots));
    shm::publish(current_, reinterpret_cast<uint64_t>(all_.back().get()));
  }

  std::vector<std::unique_ptr<Slots>> all_;
  shm::Word current_;  // the address of the last one
};

}  // namespace tutti::group
