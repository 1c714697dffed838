#include "mpi/communicators/records.h"

#include <algorithm>
#include <utility>

#include "base/process.h"
#include "records/programs.h"

namespace tutti::mpi {

Records::Records(const Settings& settings)
    : areas_(settings.areas),
      layout_(settings.layout),
      by_key_(settings.by_key),
      ranks_(by_key_ != nullptr ? by_key_->ranks() : layout_.ranks),
      arena_(settings.arena),
      reach_(settings.reach),
      concurrent_(settings.concurrent),
      sequence_(settings_of(settings, shm::LedgerOf::operations)),
      openings_(settings_of(settings, shm::LedgerOf::openings)),
      stores_(settings.stores) {}

records::Sequence::Settings Records::settings_of(const Settings& settings, shm::LedgerOf which) {
  records::Sequence::Settings its;
  its.rank = settings.rank;
  if (by_key_ != nullptr) {
    its.ledgers.resize(static_cast<size_t>(ranks_));
    its.ledgers[static_cast<size_t>(settings.rank)] = by_key_->own(which);
    its.source = &by_key_->source(which);
  } else {
    its.source = &in_areas_;
  }
  for (int rank = 0; by_key_ == nullptr && rank < ranks_; ++rank)
    its.ledgers.push_back(reinterpret_cast<shm::Ledger*>(
        areas_ + static_cast<size_t>(rank) * layout_.stride() + shm::Layout::ledger_offset(which)));
  its.arena = settings.arena;
  its.reach = &reach_;
  its.concurrent = settings.concurrent;
  return its;
}

const plan::RecordProgram& Records::program(plan::Collective collective, int root) {
  const std::pair<plan::Collective, int> key(collective, root);
  if (const auto found = programs_.find(key); found != programs_.end()) return *found->second;
  const plan::RecordProgram& found =
      records::program_of(collective, ranks_, sequence_.rank(), root);
  return *programs_.emplace(key, &found).first->second;
}

records::PrivateSequence& Records::open(records::PrivateSequence::Settings settings) {
  settings.openings = &openings_;
  settings.arena = arena_;
  settings.concurrent = concurrent_;
  const std::lock_guard<std::mutex> lock(mutex_);
  end_closed();
  opened_.reserve(opened_.size() + 1);
  return *opened_.emplace_back(std::make_unique<records::PrivateSequence>(settings));
}

void Records::close(records::PrivateSequence& opened) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  opened.close();
  end_closed();
}

// Destroys the private sequences that all ranks have closed. The caller holds the lock. Those of
// ranks that disagree about what they have opened stay.
void Records::end_closed() noexcept {
  std::erase_if(opened_, [](const auto& one) {
    try {
      return one->try_end();
    } catch (...) {
      return false;
    }
  });
}

// Memory that cannot be mapped keeps the records.
bool Records::may_end() noexcept {
  try {
    const std::lock_guard<std::mutex> lock(mutex_);
    end_closed();
    if (!closing_ &&
        (under_way() != 0 || !opened_.empty() || !sequence_.may_end() || !openings_.may_end()))
      return false;
    if (by_key_ == nullptr) return true;
    closing_ = true;
    return by_key_->try_end();
  } catch (...) {
    return false;
  }
}

void Records::abandon() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  sequence_.abandon();
  for (const auto& one : opened_) {
    one->sequence().abandon();
    one->close();
  }
}

bool Records::is_late(int rank) {
  const auto has_all = [&](records::Sequence& sequence) {
    const std::vector<int>& readers = sequence.readers();
    return std::find(readers.begin(), readers.end(), rank) == readers.end() ||
           sequence.taken(rank) >= sequence.issued(sequence.rank());
  };
  const std::lock_guard<std::mutex> lock(mutex_);
  if (closing_) return false;
  return !has_all(sequence_) || std::any_of(opened_.begin(), opened_.end(), [&](const auto& one) {
    return !one->is_closed() && !has_all(one->sequence());
  });
}

// Private sequences that other ranks open later find no operation of this rank.
void Records::leave() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (closing_) return;
  openings_.abandon();
  if (by_key_ == nullptr) shm::publish(control(sequence_.rank()).ended, 1);
}

// Ranks that disagree about what they have opened need not be waited for. Neither are readers whose
// ledger cannot be mapped, because nothing would tell when they are done.
bool Records::is_settled() noexcept {
  const auto is_over = [](auto ask) {
    try {
      return ask();
    } catch (...) {
      return true;
    }
  };
  const std::lock_guard<std::mutex> lock(mutex_);
  if (closing_) return true;
  return is_over([&] { return sequence_.may_end(); }) &&
         std::all_of(opened_.begin(), opened_.end(),
                     [&](const auto& one) { return is_over([&] { return one->try_close(); }); });
}

uint64_t Records::process(int rank) const {
  if (by_key_ != nullptr) return by_key_->process(rank);
  return shm::load_relaxed(control(rank).process);
}

shm::Control& Records::control(int rank) const {
  return *reinterpret_cast<shm::Control*>(areas_ + static_cast<size_t>(rank) * layout_.stride());
}

int Records::late_rank() {
  for (int rank = 0; rank < ranks_; ++rank)
    if (is_late(rank)) return rank;
  return -1;
}

int Records::missing_rank() {
  for (int rank = 0; rank < ranks_; ++rank)
    if (is_late(rank) && process_is_gone(process(rank))) return rank;
  return -1;
}

}  // namespace tutti::mpi
