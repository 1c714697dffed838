// A table of objects by MPI handle, in which a call finds the object of its communicator or request
// without a lock.
//
// Any thread may search the table at any time; a thread that changes it holds its owner's lock. A
// slot keeps its handle for as long as the table lives, so that a search passes over objects that
// have ended. When the slots are half full, a table of twice as many replaces them; the old ones
// stay allocated, because threads may still search them. MPI reuses handles, so there are few
// tables. A thread that makes a call with a handle knows that the object was made, so the search
// gives this object or nothing, and never an older one that had the same handle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "shm/order.h"

namespace tutti::group {

// An object, and a second one that a call needs together with it. The table owns neither.
template <class Object, class Second>
class HandleTable {
 public:
  struct Entry {
    Object* object = nullptr;  // null: the handle has none, or it has ended
    Second* second = nullptr;
  };

  HandleTable() { use(std::make_unique<Slots>(first_size)); }

  Entry find(uint64_t handle) const {
    const Slots& slots = *reinterpret_cast<const Slots*>(shm::observe(current_));
    for (size_t at = slots.place_of(handle);; at = slots.after(at)) {
      const Slot& slot = slots.slots[at];
      const uint64_t its = shm::observe(slot.handle);
      if (its == handle)
        return {reinterpret_cast<Object*>(shm::load_relaxed(slot.object)),
                reinterpret_cast<Second*>(shm::load_relaxed(slot.second))};
      if (its == none) return {};
    }
  }

  void put(uint64_t handle, const Entry& entry) {
    if (2 * (latest().used + 1) > latest().slots.size()) {
      auto next = std::make_unique<Slots>(2 * latest().slots.size());
      for (const Slot& slot : latest().slots)
        if (const uint64_t its = shm::load_relaxed(slot.handle); its != none)
          next->put(its, shm::load_relaxed(slot.object), shm::load_relaxed(slot.second));
      use(std::move(next));
    }
    latest().put(handle, reinterpret_cast<uint64_t>(entry.object),
                 reinterpret_cast<uint64_t>(entry.second));
  }

  void remove(uint64_t handle) {
    for (size_t at = latest().place_of(handle);; at = latest().after(at)) {
      Slot& slot = latest().slots[at];
      const uint64_t its = shm::load_relaxed(slot.handle);
      if (its == handle) shm::store_relaxed(slot.object, 0);
      if (its == handle || its == none) return;
    }
  }

  void clear() {
    for (Slot& slot : latest().slots) shm::store_relaxed(slot.object, 0);
  }

 private:
  static constexpr size_t first_size = 64;
  static constexpr uint64_t none = UINT64_MAX;  // no program has this handle, integer or address
  struct Slot {
    shm::Word handle{none};
    shm::Word object{0};  // addresses; this one is 0 if the object has ended
    shm::Word second{0};
  };
  struct Slots {
    explicit Slots(size_t size) : mask(size - 1), slots(size) {}
    size_t place_of(uint64_t handle) const { return (handle * 0x9E3779B97F4A7C15u) >> 32 & mask; }
    size_t after(size_t at) const { return (at + 1) & mask; }

    // Publishes the handle, for which other threads search, after the object.
    void put(uint64_t handle, uint64_t object, uint64_t second) {
      size_t at = place_of(handle);
      for (uint64_t its; (its = shm::load_relaxed(slots[at].handle)) != none && its != handle;)
        at = after(at);
      Slot& slot = slots[at];
      shm::store_relaxed(slot.second, second);
      shm::store_relaxed(slot.object, object);
      if (shm::load_relaxed(slot.handle) != handle) ++used;
      shm::publish(slot.handle, handle);
    }

    size_t mask;
    size_t used = 0;  // slots with a handle, also of objects that have ended
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
