#include "records/ledgers_by_key.h"

#include <memory>
#include <utility>

#include "base/error.h"

namespace tutti::records {
namespace {

constexpr auto kinds = static_cast<size_t>(shm::LedgerOf::count_);

}  // namespace

LedgersByKey::LedgersByKey(Settings settings) : settings_(std::move(settings)) {
  for (size_t which = 0; which < kinds; ++which) {
    sources_[which].all = this;
    sources_[which].which = static_cast<shm::LedgerOf>(which);
  }
  memory_ = settings_.arena->take(kinds * sizeof(shm::Ledger));
  own_ = reinterpret_cast<shm::Ledger*>(memory_.data);
  std::uninitialized_value_construct_n(own_, kinds);
  try {
    entry_ = &settings_.directory->enter(settings_.key, memory_.place);
  } catch (...) {
    settings_.arena->give_back(memory_);
    throw;
  }
}

LedgersByKey::~LedgersByKey() {
  if (!ended_) return;
  settings_.directory->remove(*entry_);
  settings_.arena->give_back(memory_);
}

uint64_t LedgersByKey::process(int rank) const {
  const int member = settings_.members[static_cast<size_t>(rank)];
  return shm::load_relaxed(settings_.directory->page(member).process);
}

bool LedgersByKey::has_ended(int rank) const {
  return settings_.directory->has_left(settings_.members[static_cast<size_t>(rank)]);
}

shm::Ledger* LedgersByKey::Source::find_ledger(int rank) { return all->find(rank, which); }

shm::Ledger* LedgersByKey::find(int rank, shm::LedgerOf which) {
  Directory& directory = *settings_.directory;
  const Directory::Entry* const entry =
      directory.find(settings_.members[static_cast<size_t>(rank)], settings_.key);
  const std::byte* mapped = nullptr;
  try {
    if (entry != nullptr) mapped = directory.address(*entry);
  } catch (const Error&) {
    if (!has_ended(rank)) throw;
  }
  if (mapped == nullptr) return has_ended(rank) ? ended_ledger() : nullptr;
  // The memory is shared and writable; only its owner writes.
  auto* const ledgers = const_cast<std::byte*>(mapped);
  return reinterpret_cast<shm::Ledger*>(ledgers) + static_cast<int>(which);
}

bool LedgersByKey::try_end() {
  const std::lock_guard<std::mutex> lock(mutex_);
  // Pairs with the observation below at the other ranks: they give their ledgers up only after this
  // rank has read them for the last time.
  shm::publish(entry_->closed, 1);
  for (; closed_ < settings_.members.size(); ++closed_) {
    const Directory::Entry* const entry =
        settings_.directory->find(settings_.members[closed_], settings_.key);
    if (entry != nullptr && shm::observe(entry->closed) == 0) return false;
  }
  return ended_ = true;
}

}  // namespace tutti::records
