#include "mpi/communicators/records.h"

#include <algorithm>
#include <string>

#include "algo/algo.h"
#include "base/process.h"

namespace tutti::mpi {
namespace {

// In the plans of these algorithms every rank reads what it needs from the ranks that have it.
std::string eager_algorithm(plan::Collective collective) {
  if (plan::parted(collective)) return "direct";
  return plan::rooted(collective) ? "flat" : "all_read_all";
}

}  // namespace

Records::Records(const Settings& settings)
    : areas_(settings.areas),
      layout_(settings.layout),
      arena_(settings.arena),
      concurrent_(settings.concurrent),
      sequence_(settings_of(settings, shm::LedgerOf::operations)),
      openings_(settings_of(settings, shm::LedgerOf::openings)),
      stores_(settings.stores) {}

eager::Sequence::Settings Records::settings_of(const Settings& settings,
                                               shm::LedgerOf which) const {
  eager::Sequence::Settings its;
  its.rank = settings.rank;
  for (int rank = 0; rank < layout_.ranks; ++rank)
    its.ledgers.push_back(reinterpret_cast<shm::Ledger*>(
        areas_ + static_cast<size_t>(rank) * layout_.stride() + shm::Layout::ledger_offset(which)));
  its.arena = settings.arena;
  its.reach = settings.reach;
  its.concurrent = settings.concurrent;
  return its;
}

const plan::EagerProgram& Records::program(plan::Collective collective, int root) {
  const std::pair<plan::Collective, int> key(collective, root);
  if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
  std::vector<plan::EagerProgram> all = plan::make_eager(
      algo::generate(collective, eager_algorithm(collective), layout_.ranks, root));
  return programs_.emplace(key, std::move(all[static_cast<size_t>(sequence_.rank())]))
      .first->second;
}

eager::PrivateSequence& Records::open(eager::PrivateSequence::Settings settings) {
  settings.openings = &openings_;
  settings.arena = arena_;
  settings.concurrent = concurrent_;
  const std::lock_guard<std::mutex> lock(mutex_);
  end_closed();
  opened_.reserve(opened_.size() + 1);
  return *opened_.emplace_back(std::make_unique<eager::PrivateSequence>(settings));
}

void Records::close(eager::PrivateSequence& opened) noexcept {
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
    return under_way() == 0 && opened_.empty() && sequence_.may_end() && openings_.may_end();
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
  const auto has_all = [&](eager::Sequence& sequence) {
    const std::vector<int>& readers = sequence.readers();
    return std::find(readers.begin(), readers.end(), rank) == readers.end() ||
           sequence.taken(rank) >= sequence.issued(sequence.rank());
  };
  const std::lock_guard<std::mutex> lock(mutex_);
  return !has_all(sequence_) || std::any_of(opened_.begin(), opened_.end(), [&](const auto& one) {
    return !one->is_closed() && !has_all(one->sequence());
  });
}

// Ranks that disagree about what they have opened need not be waited for.
bool Records::is_settled() noexcept {
  try {
    const std::lock_guard<std::mutex> lock(mutex_);
    return sequence_.may_end() && std::all_of(opened_.begin(), opened_.end(),
                                              [](const auto& one) { return one->try_close(); });
  } catch (...) {
    return true;
  }
}

uint64_t Records::process(int rank) const {
  const std::byte* const area = areas_ + static_cast<size_t>(rank) * layout_.stride();
  return shm::load_relaxed(reinterpret_cast<const shm::Control*>(area)->process);
}

int Records::late_rank() {
  for (int rank = 0; rank < layout_.ranks; ++rank)
    if (is_late(rank)) return rank;
  return -1;
}

int Records::missing_rank() {
  for (int rank = 0; rank < layout_.ranks; ++rank)
    if (is_late(rank) && process_is_gone(process(rank))) return rank;
  return -1;
}

}  // namespace tutti::mpi
