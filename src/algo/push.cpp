#include "algo/push.h"

#include <algorithm>
#include <utility>

namespace tutti::algo {

plan::Plan pushed(plan::Plan plan) {
  // Indexed by rank: the first free block of its `tmp`.
  std::vector<int32_t> next(static_cast<size_t>(plan.ranks), 0);
  const auto note = [&](const plan::Region& region) {
    int32_t& free = next[static_cast<size_t>(region.rank)];
    if (region.buffer == plan::Buffer::tmp) free = std::max(free, region.last() + 1);
  };
  for (const plan::Transfer& transfer : plan.transfers) {
    note(transfer.dst);
    for (const plan::Region& source : transfer.src) note(source);
  }
  for (plan::Transfer& transfer : std::exchange(plan.transfers, {})) {
    const int32_t rank = transfer.dst.rank;
    if (transfer.kind == plan::TransferKind::copy) {
      transfer.push = transfer.src.front().rank != rank;
    } else if (transfer.kind == plan::TransferKind::reduce) {
      for (plan::Region& source : transfer.src) {
        if (source.rank == rank) continue;
        int32_t& free = next[static_cast<size_t>(rank)];
        const plan::Region place = plan::tmp(rank, free, source.count);
        free += source.count;
        plan.copy(place, std::exchange(source, place));
        plan.transfers.back().push = true;
      }
    }
    plan.transfers.push_back(std::move(transfer));
  }
  return plan;
}

}  // namespace tutti::algo
