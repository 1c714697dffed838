#include "algo/staggered.h"

namespace tutti::algo {

plan::Plan staggered_barrier(int ranks, int ahead) {
  std::vector<int32_t> known(static_cast<size_t>(ahead),
                             1);  // indexed by time slot: known(s) of the header
  while (known.back() < ranks)
    known.push_back(known.back() + known[known.size() - static_cast<size_t>(ahead)]);
  const auto last = static_cast<int32_t>(known.size()) - 1;
  const auto value = [&](int32_t rank, int32_t slot) {
    if (slot < ahead) return plan::tmp(rank);
    return slot == last ? plan::out(rank) : plan::tmp(rank, slot - ahead + 1);
  };
  plan::Plan plan;
  plan.collective = plan::Collective::barrier;
  plan.ranks = ranks;
  for (int32_t rank = 0; rank < ranks; ++rank) plan.copy(plan::tmp(rank), plan::in(rank));
  for (int32_t slot = ahead; slot <= last; ++slot) {
    const int32_t distance = known[static_cast<size_t>(slot) - 1];
    for (int32_t rank = 0; rank < ranks; ++rank) {
      const int32_t other = (rank + ranks - distance) % ranks;
      plan.reduce(value(rank, slot), {value(other, slot - ahead), value(rank, slot - 1)});
    }
  }
  for (int32_t rank = 0; rank < ranks && last < ahead; ++rank)
    plan.copy(plan::out(rank), plan::tmp(rank));
  return plan;
}

}  // namespace tutti::algo
