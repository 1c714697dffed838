#include "mpi/communicators/persistent_lanes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/log.h"

namespace tutti::mpi {
namespace {

// Each of so many times four lanes takes a communicator of the host's, and shared memory.
constexpr size_t most_made = 16;

}  // namespace

PersistentLanes::Lease PersistentLanes::take(Comm over, Comm communicator, bool serves) {
  const Host& mpi = host();
  constexpr auto count = static_cast<size_t>(group::Lanes::count);
  // The words say whether this rank serves the request, and whether it may make lanes; then, for
  // each lane, whether it has no user here.
  std::vector<uint64_t> own{
      serves ? uint64_t{1} : uint64_t{0},
      PrivateCommunicator::living() < PrivateCommunicator::most ? uint64_t{1} : 0};
  for (const auto& lanes : made_)
    for (size_t i = 0; i < count; ++i) own.push_back(lanes->is_free(i) ? 1 : 0);
  std::vector<uint64_t> all(own.size());
  if (mpi.Allreduce(own.data(), all.data(), static_cast<int>(own.size()), mpi.type_uint64,
                    mpi.op_min, over) != success ||
      all.front() == 0)
    return {};
  const auto free = std::find(all.begin() + 2, all.end(), 1);
  const auto found = static_cast<size_t>(free - all.begin()) - 2;
  if (found / count == made_.size()) {
    if (exhausted_ || made_.size() == most_made || all[1] == 0) return {};
    making_.first_lane = (1 + made_.size()) * count;
    std::string why_not;
    std::shared_ptr<ServedLanes> lanes = ServedLanes::make(over, making_, &why_not);
    if (lanes == nullptr) {
      exhausted_ = true;
      if (making_.settings.rank == 0)
        log_once("lanes/persistent", LogLevel::warning,
                 "some persistent collectives between nodes stay on the host MPI: %s",
                 why_not.c_str());
      return {};
    }
    lanes->serve(communicator);
    made_.push_back(std::move(lanes));
  }
  return {made_[found / count], found % count};
}

void PersistentLanes::serve(Comm communicator) {
  for (const auto& lanes : made_) lanes->serve(communicator);
}

void PersistentLanes::decide_by(const select::Table* table) {
  making_.settings.overrides.table = table;
  for (const auto& lanes : made_) lanes->lanes().decide_by(table);
}

void PersistentLanes::record_sent() {
  for (const auto& lanes : made_) lanes->record_sent();
}

}  // namespace tutti::mpi
