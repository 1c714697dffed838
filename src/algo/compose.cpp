#include "algo/compose.h"

#include <algorithm>
#include <utility>

namespace tutti::algo {
namespace {

using plan::Buffer;
using plan::Region;
using plan::Transfer;
using plan::TransferKind;

// One block of a list.
struct Block {
  Buffer buffer;
  int32_t number;
};

std::vector<Block> blocks_in(const Regions& list) {
  std::vector<Block> blocks;
  blocks.reserve(static_cast<size_t>(blocks_of(list)));
  for (const Region& region : list) {
    for (int32_t i = 0; i < region.count; ++i)
      blocks.push_back({region.buffer, region.first + i * region.stride});
  }
  return blocks;
}

// The end of the longest run of blocks from `low` that is one region.
size_t end_of_run(const std::vector<Block>& blocks, size_t low) {
  size_t high = low + 1;
  const auto step = [&](size_t at) { return blocks[at].number - blocks[at - 1].number; };
  while (high < blocks.size() && blocks[high].buffer == blocks[low].buffer && step(high) >= 1 &&
         step(high) == step(low + 1)) {
    ++high;
  }
  return high;
}

Region run_of(const std::vector<Block>& blocks, size_t low, size_t high, int32_t rank) {
  const int32_t stride = high - low > 1 ? blocks[low + 1].number - blocks[low].number : 1;
  return {rank, blocks[low].buffer, blocks[low].number, static_cast<int32_t>(high - low), stride};
}

Transfer made_like(const Transfer& like, const Region& dst) {
  Transfer transfer;
  transfer.kind = like.kind;
  transfer.push = like.push;
  transfer.any_order = like.any_order;
  transfer.dst = dst;
  return transfer;
}

// Removes from a copy the blocks whose source and destination are the same.
void drop_those_in_place(const Regions& dst, const Regions& src, std::vector<Block>& to,
                         std::vector<Block>& from) {
  if (dst.front().rank != src.front().rank) return;
  size_t kept = 0;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i].buffer == from[i].buffer && to[i].number == from[i].number) continue;
    to[kept] = to[i];
    from[kept++] = from[i];
  }
  to.resize(kept);
  from.resize(kept);
}

bool all_runs(const Regions& dst, const std::vector<Regions>& src) {
  return dst.size() == 1 &&
         std::all_of(src.begin(), src.end(), [](const Regions& list) { return list.size() == 1; });
}

}  // namespace

Region Composer::scratch(int32_t rank, int32_t count) {
  int32_t& next = next_[static_cast<size_t>(rank)];
  const Region region = plan::tmp(rank, next, count);
  next += count;
  return region;
}

void Composer::copy(const Regions& dst, const Regions& src) {
  std::vector<Regions> sources{src};
  add({}, dst, sources);
}

void Composer::add(const Transfer& like, const Regions& dst, std::vector<Regions>& src) {
  const bool is_copy = like.kind == TransferKind::copy;
  if (dst.empty() || (is_copy && dst == src.front())) return;
  if (all_runs(dst, src) && !(is_copy && plan::overlap(dst.front(), src.front().front()))) {
    Transfer transfer = made_like(like, dst.front());
    for (const Regions& list : src) transfer.src.push_back(list.front());
    whole_.transfers.push_back(std::move(transfer));
    return;
  }
  std::vector<Block> to = blocks_in(dst);
  std::vector<std::vector<Block>> from;
  for (const Regions& list : src) from.push_back(blocks_in(list));
  if (is_copy) drop_those_in_place(dst, src.front(), to, from.front());
  for (size_t low = 0, high = 0; low < to.size(); low = high) {
    high = end_of_run(to, low);
    for (const std::vector<Block>& blocks : from) high = std::min(high, end_of_run(blocks, low));
    Transfer transfer = made_like(like, run_of(to, low, high, dst.front().rank));
    for (size_t i = 0; i < src.size(); ++i)
      transfer.src.push_back(run_of(from[i], low, high, src[i].front().rank));
    whole_.transfers.push_back(std::move(transfer));
  }
}

void Composer::add_in_one_message(const Transfer& like, const Regions& dst,
                                  std::vector<Regions>& src) {
  if (dst.empty()) return;
  const int32_t rank = dst.front().rank, count = blocks_of(dst);
  for (Regions& list : src) {
    if (list.front().rank == rank || list.size() == 1) continue;
    Regions packed{scratch(list.front().rank, count)};
    copy(packed, list);
    list = std::move(packed);
  }
  if (all_runs(dst, src)) return add(like, dst, src);
  for (Regions& list : src) {
    if (list.front().rank == rank) continue;
    Regions landed{scratch(rank, count)};
    copy(landed, list);
    whole_.transfers.back().push = like.push;
    list = std::move(landed);
  }
  Transfer local = like;
  local.push = false;
  add(local, dst, src);
}

}  // namespace tutti::algo
