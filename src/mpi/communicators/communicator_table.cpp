#include "mpi/communicators/communicator_table.h"

#include <utility>

namespace tutti::mpi {
namespace {

constexpr size_t first_size = 64;

}  // namespace

CommunicatorTable::CommunicatorTable() {
  tables_.push_back(std::make_unique<Table>(first_size));
  shm::publish(table_, reinterpret_cast<uint64_t>(tables_.back().get()));
}

// The communicator is there before its handle, which threads look for.
void CommunicatorTable::put_into(Table& table, uint64_t handle, uint64_t communicator,
                                 uint64_t group) {
  size_t at = place_of(table, handle);
  for (uint64_t its; (its = shm::load_relaxed(table.slots[at].handle)) != none && its != handle;)
    at = (at + 1) & table.mask;
  Slot& slot = table.slots[at];
  shm::store_relaxed(slot.group, group);
  shm::store_relaxed(slot.communicator, communicator);
  if (shm::load_relaxed(slot.handle) != handle) ++table.used;
  shm::publish(slot.handle, handle);
}

// Handles of communicators that have ended stay: hosts use them again, so that there are few
// tables, each twice as large as the one before.
void CommunicatorTable::put(uint64_t handle, const Entry& entry) {
  if (2 * (current().used + 1) > current().slots.size()) {
    auto next = std::make_unique<Table>(2 * current().slots.size());
    for (const Slot& slot : current().slots)
      if (const uint64_t its = shm::load_relaxed(slot.handle); its != none)
        put_into(*next, its, shm::load_relaxed(slot.communicator), shm::load_relaxed(slot.group));
    tables_.push_back(std::move(next));
    shm::publish(table_, reinterpret_cast<uint64_t>(tables_.back().get()));
  }
  put_into(current(), handle, reinterpret_cast<uint64_t>(entry.communicator),
           reinterpret_cast<uint64_t>(entry.group));
}

void CommunicatorTable::remove(uint64_t handle) {
  for (size_t at = place_of(current(), handle);; at = (at + 1) & current().mask) {
    Slot& slot = current().slots[at];
    const uint64_t its = shm::load_relaxed(slot.handle);
    if (its == handle) shm::store_relaxed(slot.communicator, 0);
    if (its == handle || its == none) return;
  }
}

void CommunicatorTable::clear() {
  for (Slot& slot : current().slots) shm::store_relaxed(slot.communicator, 0);
}

}  // namespace tutti::mpi
