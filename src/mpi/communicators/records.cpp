#include "mpi/communicators/records.h"

#include <string>
#include <vector>

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

Records::Records(const eager::Sequence::Settings& settings, exec::SlotStores::Policy stores)
    : areas_(settings.areas), layout_(settings.layout), sequence_(settings), stores_(stores) {}

const plan::EagerProgram& Records::program(plan::Collective collective, int root) {
  const std::pair<plan::Collective, int> key(collective, root);
  if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
  std::vector<plan::EagerProgram> all = plan::make_eager(
      algo::generate(collective, eager_algorithm(collective), layout_.ranks, root));
  return programs_.emplace(key, std::move(all[static_cast<size_t>(sequence_.rank())]))
      .first->second;
}

uint64_t Records::process(int rank) const {
  const std::byte* const area = areas_ + static_cast<size_t>(rank) * layout_.stride();
  return shm::load_relaxed(reinterpret_cast<const shm::Control*>(area)->process);
}

int Records::late_rank() const {
  for (int rank = 0; rank < layout_.ranks; ++rank)
    if (sequence_.taken(rank) < sequence_.issued(sequence_.rank())) return rank;
  return -1;
}

int Records::missing_rank() const {
  for (int rank = 0; rank < layout_.ranks; ++rank)
    if (sequence_.taken(rank) < sequence_.issued(sequence_.rank()) &&
        process_is_gone(process(rank)))
      return rank;
  return -1;
}

}  // namespace tutti::mpi
