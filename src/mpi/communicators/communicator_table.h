// Communicators of this process by handle: how a call finds its communicator without a lock.
//
// The registry (registry.h) has two: of all that it knows, and, with their groups, of those whose
// calls Tutti serves. Any thread may search it at any time; whoever changes it holds the registry's
// lock. A slot keeps its handle for as long as the table lives, so that a search passes over
// communicators that have ended; a table that fills up is replaced by another one, and old ones are
// kept, because threads may still search them. A thread that makes a call on a communicator knows
// that the communicator was made, so it finds it, or nothing: never one that had the same handle
// before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "shm/order.h"

namespace tutti::group {
class Group;
}

namespace tutti::mpi {

class Communicator;

class CommunicatorTable {
 public:
  struct Entry {
    Communicator* communicator = nullptr;  // null: there is none, or it has ended
    group::Group* group = nullptr;
  };

  CommunicatorTable();

  Entry find(uint64_t handle) const {
    const Table& table = *reinterpret_cast<const Table*>(shm::observe(table_));
    for (size_t at = place_of(table, handle);; at = (at + 1) & table.mask) {
      const Slot& slot = table.slots[at];
      const uint64_t its = shm::observe(slot.handle);
      if (its == handle)
        return {reinterpret_cast<Communicator*>(shm::load_relaxed(slot.communicator)),
                reinterpret_cast<group::Group*>(shm::load_relaxed(slot.group))};
      if (its == none) return {};
    }
  }
  void put(uint64_t handle, const Entry& entry);
  void remove(uint64_t handle);
  void clear();

 private:
  static constexpr uint64_t none = UINT64_MAX;  // a handle that no program has, integer or address
  struct Slot {
    shm::Word handle{none};
    shm::Word communicator{0};  // addresses; the first one 0 where it has ended
    shm::Word group{0};
  };
  struct Table {
    explicit Table(size_t size) : mask(size - 1), slots(size) {}
    size_t mask;
    size_t used = 0;  // slots with a handle, of ended ones too; half of all at most
    std::vector<Slot> slots;
  };
  static size_t place_of(const Table& table, uint64_t handle) {
    return (handle * 0x9E3779B97F4A7C15u) >> 32 & table.mask;
  }
  static void put_into(Table& table, uint64_t handle, uint64_t communicator, uint64_t group);
  Table& current() const { return *tables_.back(); }

  std::vector<std::unique_ptr<Table>> tables_;
  shm::Word table_;  // the address of the last one
};

}  // namespace tutti::mpi
