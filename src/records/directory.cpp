#include "records/directory.h"

#include <algorithm>
#include <memory>

#include "base/error.h"

namespace tutti::records {
namespace {

using Entry = Directory::Entry;

// The entries of a table in which a key may be.
constexpr uint64_t near = 8;

// Calls look(ENTRY) for them until it returns true, and returns that entry; null if there is none.
template <class Look>
Entry* look_near(Entry* table, uint64_t entries, const Key& key, Look&& look) {
  for (uint64_t i = 0; i < near; ++i) {
    Entry& entry = table[(key.words[1] + i) & (entries - 1)];
    if (look(entry)) return &entry;
  }
  return nullptr;
}

}  // namespace

Directory::Directory(Page* pages, int members, int own, Arena& arena)
    : pages_(pages), own_(own), arena_(arena), tables_(static_cast<size_t>(members)) {}

// A member makes its tables in order. Null if it has not made this one. The caller holds the lock.
Entry* Directory::table(int member, int which) {
  Page& page = pages_[member];
  if (which == 0) return page.first;
  std::vector<Entry*>& known = tables_[static_cast<size_t>(member)];
  const auto index = static_cast<size_t>(which - 1);
  if (index < known.size()) return known[index];
  if (which == most_tables || shm::observe(page.tables[index].made) == 0) return nullptr;
  known.reserve(index + 1);
  const std::byte* mapped = nullptr;
  try {
    mapped = arena_.address(page.tables[index].entries);
  } catch (const Error&) {
    if (!has_left(member)) throw;
    return nullptr;
  }
  // The memory is shared and writable; only its owner writes.
  return known.emplace_back(reinterpret_cast<Entry*>(const_cast<std::byte*>(mapped)));
}

Entry* Directory::make_table(int which) {
  if (which == most_tables)
    throw Error(Code::unavailable,
                "too many communicators of this rank have non-blocking or persistent collectives; "
                "free communicators that are not needed");
  std::vector<Entry*>& known = tables_[static_cast<size_t>(own_)];
  known.reserve(known.size() + 1);
  const uint64_t entries = entries_of(which);
  const Arena::Block block = arena_.take(entries * sizeof(Entry));
  auto* const made = reinterpret_cast<Entry*>(block.data);
  std::uninitialized_value_construct_n(made, entries);
  Page::Table& told = pages_[own_].tables[which - 1];
  told.entries = block.place;
  shm::publish(told.made, 1);
  return known.emplace_back(made);
}

Entry& Directory::enter(const Key& key, const shm::ArenaPlace& place) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto is_free = [](const Entry& entry) { return shm::load_relaxed(entry.key[0]) == 0; };
  Entry* free = nullptr;
  for (int which = 0; free == nullptr; ++which) {
    Entry* entries = table(own_, which);
    if (entries == nullptr) entries = make_table(which);
    free = look_near(entries, entries_of(which), key, is_free);
  }
  free->place = place;
  shm::store_relaxed(free->closed, 0);
  shm::store_relaxed(free->key[1], key.words[1]);
  shm::publish(free->key[0], key.words[0]);
  return *free;
}

void Directory::remove(Entry& entry) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  shm::store_relaxed(entry.key[0], 0);
}

// An entry that is found stays, so its words do not change between the comparison and later reads.
// In any other entry, the two words may be those of different keys, which is no match either.
Entry* Directory::find(int member, const Key& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto is_it = [&](const Entry& entry) {
    return shm::observe(entry.key[0]) == key.words[0] &&
           shm::load_relaxed(entry.key[1]) == key.words[1];
  };
  for (int which = 0;; ++which) {
    Entry* const entries = table(member, which);
    if (entries == nullptr) return nullptr;
    if (Entry* const found = look_near(entries, entries_of(which), key, is_it)) return found;
  }
}

}  // namespace tutti::records
