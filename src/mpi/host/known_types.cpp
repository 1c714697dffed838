#include "mpi/host/known_types.h"

#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "group/handle_table.h"
#include "mpi/host/type_layout.h"
#include "mpi/host/types.h"

namespace tutti::mpi {
namespace {

// An entry, in the list of all entries, which the table's lock guards.
struct Entry {
  KnownType type;
  Entry* previous = nullptr;
  Entry* next = nullptr;
};

// A type is searched for only if its count is that of a known type. Types may share a count, and
// threads may change a count at once and lose a change. Both only make a type known one use earlier
// or later, or let the host pack a known type until its count has grown again.
constexpr size_t counts = 256;  // a power of two
constexpr uint64_t uses_of_a_known_type = 2;
constinit shm::Word uses[counts]{};

struct Table {
  std::mutex mutex;  // for changes
  group::HandleTable<Entry, void> found;
  Entry* first = nullptr;
};

constinit shm::Word made_table{0};  // its address; 0 before the first type is known

// Throws bad_alloc.
Table& table() {
  // Never destroyed: exit handlers may still call MPI.
  static Table& made = *new Table;
  shm::publish(made_table, reinterpret_cast<uint64_t>(&made));
  return made;
}

[[gnu::always_inline]] inline shm::Word& uses_of(Datatype type) {
  return uses[((uint64_t)type * 0x9E3779B97F4A7C15u) >> 32 & (counts - 1)];
}

[[gnu::always_inline]] inline const KnownType* search(Datatype type) {
  const auto* const table = reinterpret_cast<const Table*>(shm::observe(made_table));
  if (table == nullptr) return nullptr;
  const Entry* const entry = table->found.find((uint64_t)type).object;
  return entry != nullptr ? &entry->type : nullptr;
}

// With a layout that has as many bytes as the host says. Null for a handle that is no type.
const KnownType* make_known(Datatype type) {
  auto made = std::make_unique<Entry>(Entry{facts_of(type)});
  if (made->type.shape.bytes == 0) return nullptr;
  made->type.layout = layout_of(type);
  if (made->type.layout && made->type.layout->bytes() != made->type.shape.bytes)
    made->type.layout.reset();
  const std::lock_guard<std::mutex> lock(table().mutex);
  // Another thread may have been first.
  if (const KnownType* const known = search(type)) return known;
  table().found.put((uint64_t)type, {made.get(), nullptr});
  made->next = table().first;
  if (made->next != nullptr) made->next->previous = made.get();
  table().first = made.get();
  return &made.release()->type;
}

}  // namespace

size_t bytes_of_unnamed(Datatype type) {
  int bytes = 0;
  if (type == host().type_null || host().Type_size(type, &bytes) != success || bytes < 0) return 0;
  return static_cast<size_t>(bytes);
}

TypeShape shape_of_unnamed(Datatype type) {
  const size_t size = bytes_of_unnamed(type);
  if (size == 0) return {};
  const auto bytes = static_cast<Aint>(size);
  Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  host().Type_get_true_extent(type, &true_lower, &true_extent);
  if (true_lower != 0 || true_extent != bytes) return {size};
  host().Type_get_extent(type, &lower, &extent);
  if (lower != 0 || extent != bytes) return {size};
  const auto layout = layout_of(type);
  return {size, layout && layout->is_block()};
}

KnownType facts_of(Datatype type) {
  const NamedType* const named = named_type(type);
  KnownType facts{named != nullptr ? TypeShape{named->bytes, named->dense, true}
                                   : shape_of_unnamed(type)};
  if (facts.shape.bytes == 0) return facts;
  Aint lower = 0;
  host().Type_get_extent(type, &lower, &facts.extent);
  host().Type_get_true_extent(type, &facts.true_lower, &facts.true_extent);
  return facts;
}

const KnownType* find_known(Datatype type) noexcept {
  return shm::load_relaxed(uses_of(type)) < uses_of_a_known_type ? nullptr : search(type);
}

const KnownType* known_by_uses(Datatype type) noexcept {
  if (shm::load_relaxed(uses_of(type)) < uses_of_a_known_type) return nullptr;
  const KnownType* const known = search(type);
  return known != nullptr ? known : known_at_once(type);
}

const KnownType* known_at_once(Datatype type) noexcept {
  if (const KnownType* const known = search(type)) return known;
  try {
    return make_known(type);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void note_use(Datatype type) noexcept {
  shm::Word& count = uses_of(type);
  shm::store_relaxed(count, shm::load_relaxed(count) + 1);
}

void forget_type(Datatype type) noexcept {
  shm::count_in(types_generation);
  shm::store_relaxed(uses_of(type), 0);
  if (search(type) == nullptr) return;
  const std::lock_guard<std::mutex> lock(table().mutex);
  const std::unique_ptr<Entry> entry(table().found.find((uint64_t)type).object);
  if (entry == nullptr) return;
  table().found.remove((uint64_t)type);
  (entry->previous != nullptr ? entry->previous->next : table().first) = entry->next;
  if (entry->next != nullptr) entry->next->previous = entry->previous;
}

void forget_types() noexcept {
  if (shm::observe(made_table) == 0) return;
  const std::lock_guard<std::mutex> lock(table().mutex);
  table().found.clear();
  while (table().first != nullptr) delete std::exchange(table().first, table().first->next);
}

}  // namespace tutti::mpi
