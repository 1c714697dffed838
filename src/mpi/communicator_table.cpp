#include "mpi/communicator_table.h"

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
void CommunicatorTable::put_into(Table& table, uint64_t handle, uint64_t communicator) {
  size_t at = place_of(table, handle);
  for (uint64_t its; (its = shm::glance(table.slots[at].handle)) != none && its != handle;) at = (at + 1) & table.mask;
  Slot& slot = table.slots[at];
  shm::jot(slot.communicator, communicator);
  if (shm::glance(slot.handle) != handle) ++table.used;
  shm::publish(slot.handle, handle);
}

void CommunicatorTable::put(uint64_t handle, Communicator* communicator) {
  if (2 * (current().used + 1) > current().slots.size()) {
    size_t alive = 1;
    for (const Slot& slot : current().slots) alive += shm::glance(slot.communicator) != 0 ? 1 : 0;
    auto next = std::make_unique<Table>(4 * alive > current().slots.size() ? 2 * current().slots.size() : current().slots.size());
    for (const Slot& slot : current().slots)
      if (const uint64_t its = shm::glance(slot.communicator); its != 0) put_into(*next, shm::glance(slot.handle), its);
    tables_.push_back(std::move(next));
    shm::publish(table_, reinterpret_cast<uint64_t>(tables_.back().get()));
  }
  put_into(current(), handle, reinterpret_cast<uint64_t>(communicator));
}

void CommunicatorTable::remove(uint64_t handle) {
  for (size_t at = place_of(current(), handle);; at = (at + 1) & current().mask) {
    Slot& slot = current().slots[at];
    const uint64_t its = shm::glance(slot.handle);
    if (its == handle) shm::jot(slot.communicator, 0);
    if (its == handle || its == none) return;
  }
}

void CommunicatorTable::clear() {
  for (Slot& slot : current().slots) shm::jot(slot.communicator, 0);
}

}  // namespace tutti::mpi
