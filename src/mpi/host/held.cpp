#include "mpi/host/held.h"

#include <mutex>
#include <unordered_map>

#include "mpi/host/known_types.h"
#include "shm/order.h"

namespace tutti::mpi {
namespace {

struct Holding {
  int times = 0;
  bool freed = false;  // the program has freed it
};

struct Table {
  std::mutex mutex;
  std::unordered_map<uint64_t, Holding> types, ops;  // indexed by handle
  shm::Word size{0};                                 // the size of both; read without the lock
};

// Never destroyed: exit handlers may still call MPI.
Table& table() {
  static Table& made = *new Table;
  return made;
}

using Holdings = std::unordered_map<uint64_t, Holding>;

void note_size() { shm::store_relaxed(table().size, table().types.size() + table().ops.size()); }

void hold_in(Holdings Table::* holdings, uint64_t handle) {
  const std::lock_guard<std::mutex> lock(table().mutex);
  ++(table().*holdings)[handle].times;
  note_size();
}

// True if the caller must free the handle.
bool release_in(Holdings Table::* holdings, uint64_t handle) {
  const std::lock_guard<std::mutex> lock(table().mutex);
  const auto found = (table().*holdings).find(handle);
  if (--found->second.times > 0) return false;
  const bool freed = found->second.freed;
  (table().*holdings).erase(found);
  note_size();
  return freed;
}

// True if the handle is held. It is then noted as freed, and the caller must not free it.
bool note_freed_in(Holdings Table::* holdings, uint64_t handle) {
  if (shm::load_relaxed(table().size) == 0) return false;
  const std::lock_guard<std::mutex> lock(table().mutex);
  const auto found = (table().*holdings).find(handle);
  if (found == (table().*holdings).end()) return false;
  found->second.freed = true;
  return true;
}

// Frees a type that is not held.
int end_type(Datatype* type) {
  // Before the host's part, because another thread's new type may get the handle.
  if (type != nullptr) forget_type(*type);
  return host().Type_free(type);
}

}  // namespace

void hold_type(Datatype type) { hold_in(&Table::types, (uint64_t)type); }
void hold_op(Op op) { hold_in(&Table::ops, (uint64_t)op); }

void release_type(Datatype type) noexcept {
  if (release_in(&Table::types, (uint64_t)type)) end_type(&type);
}
void release_op(Op op) noexcept {
  if (release_in(&Table::ops, (uint64_t)op)) host().Op_free(&op);
}

int free_type(Datatype* type) {
  if (type == nullptr || !note_freed_in(&Table::types, (uint64_t)*type)) return end_type(type);
  *type = host().type_null;
  return success;
}

int free_op(Op* op) {
  if (op == nullptr || !note_freed_in(&Table::ops, (uint64_t)*op)) return host().Op_free(op);
  *op = host().op_null;
  return success;
}

}  // namespace tutti::mpi
