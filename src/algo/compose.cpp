#include "algo/compose.h"

#include <algorithm>
#include <utility>

namespace tutti::algo {
namespace {

using plan::Buffer;
using plan::Plan;
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
    for (int32_t i = 0; i < region.count; ++i) blocks.push_back({region.buffer, region.first + i * region.stride});
  }
  return blocks;
}

// How far the blocks from `low` on are one region.
size_t end_of_run(const std::vector<Block>& blocks, size_t low) {
  size_t high = low + 1;
  const auto step = [&](size_t at) { return blocks[at].number - blocks[at - 1].number; };
  while (high < blocks.size() && blocks[high].buffer == blocks[low].buffer && step(high) >= 1 && step(high) == step(low + 1)) {
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

// What stands in a block of the part's `tmp`.
struct Cell {
  int64_t item = 0;
  int32_t blocks = 0;     // of the largest item that ever stands there
  int32_t first = 0;      // of the whole's `tmp`
  bool borrowed = false;  // it is read in `in`
};

class Embedder {
 public:
  Embedder(Composer& composer, Plan& whole, const Embedding& embedding)
      : composer_(composer), whole_(whole), embedding_(embedding), definition_(embedding.part.definition()) {}

  void run() {
    count_tmp();
    for (const Transfer& transfer : embedding_.part.transfers) note(transfer);
    lay_out_tmp();
    for (const Transfer& transfer : embedding_.part.transfers) {
      if (transfer.kind == TransferKind::token) {
        token(transfer);
      } else {
        embed(transfer);
      }
    }
  }

 private:
  int32_t rank_of(int32_t rank) const { return embedding_.ranks[static_cast<size_t>(rank)]; }

  void count_tmp() {
    std::vector<int32_t> blocks(static_cast<size_t>(embedding_.part.ranks), 0);
    const auto see = [&](const Region& region) {
      int32_t& most = blocks[static_cast<size_t>(region.rank)];
      if (region.buffer == Buffer::tmp && region.count > 0) most = std::max(most, region.last() + 1);
    };
    for (const Transfer& transfer : embedding_.part.transfers) see(transfer.dst);
    starts_.assign(1, 0);
    for (const int32_t count : blocks) starts_.push_back(starts_.back() + static_cast<size_t>(count));
    cells_.resize(starts_.back());
  }

  void lay_out_tmp() {
    for (int32_t rank = 0; rank < embedding_.part.ranks; ++rank) {
      const auto begin = cells_.begin() + static_cast<std::ptrdiff_t>(starts_[static_cast<size_t>(rank)]);
      const auto end = cells_.begin() + static_cast<std::ptrdiff_t>(starts_[static_cast<size_t>(rank) + 1]);
      int32_t blocks = 0;
      std::for_each(begin, end, [&](const Cell& cell) { blocks += cell.blocks; });
      int32_t first = composer_.scratch(rank_of(rank), blocks).first;
      std::for_each(begin, end, [&](Cell& cell) { first += (cell.first = first, cell.blocks); });
    }
  }

  Cell& cell(int32_t rank, int32_t block) { return cells_[starts_[static_cast<size_t>(rank)] + static_cast<size_t>(block)]; }

  int64_t item_at(const Region& region, int32_t block) {
    if (region.buffer == Buffer::in) return definition_.item_in(region.rank, block);
    if (region.buffer == Buffer::out) return definition_.item_out(region.rank, block);
    return cell(region.rank, block).item;
  }

  // An item of a block that a transfer reads, where it lies now.
  void append_block(const Region& region, int32_t block, Regions& regions) {
    const int64_t item = item_at(region, block);
    const bool borrowed = region.buffer == Buffer::tmp && cell(region.rank, block).borrowed;
    if (region.buffer == Buffer::in || borrowed) return embedding_.in(region.rank, item, regions);
    if (region.buffer == Buffer::out) return embedding_.out(region.rank, item, regions);
    append(regions, plan::tmp(rank_of(region.rank), cell(region.rank, block).first, size(region.rank, block)));
  }

  int32_t size(int32_t rank, int32_t block) { return sizes_[starts_[static_cast<size_t>(rank)] + static_cast<size_t>(block)]; }

  Regions where(const Region& region) {
    Regions regions;
    for (int32_t k = 0; k < region.count; ++k) append_block(region, region.first + k * region.stride, regions);
    return regions;
  }

  bool borrows(const Transfer& transfer) {
    const Region& src = transfer.src.front();
    if (transfer.kind != TransferKind::copy || transfer.dst.buffer != Buffer::tmp || src.buffer != Buffer::in ||
        src.rank != transfer.dst.rank) {
      return false;
    }
    if (embedding_.in_stays) return true;
    const Regions lies = where(src);
    return std::all_of(lies.begin(), lies.end(), [](const Region& region) { return region.buffer == Buffer::tmp; });
  }

  // What stands in `tmp` behind a transfer.
  void note(const Transfer& transfer) {
    if (transfer.kind == TransferKind::token || transfer.dst.buffer != Buffer::tmp) return;
    sizes_.resize(cells_.size());
    const bool borrowed = borrows(transfer);
    const Region &dst = transfer.dst, &src = transfer.src.front();
    for (int32_t k = 0; k < dst.count; ++k) {
      const int32_t from = src.first + k * src.stride, block = dst.first + k * dst.stride;
      const int64_t item = item_at(src, from);
      int32_t blocks = 0;
      if (src.buffer == Buffer::tmp) {
        blocks = size(src.rank, from);
      } else {
        found_.clear();
        append_block(src, from, found_);
        blocks = blocks_of(found_);
      }
      Cell& to = cell(dst.rank, block);
      to.item = item;
      to.borrowed = borrowed;
      if (!borrowed) to.blocks = std::max(to.blocks, blocks);
      sizes_[starts_[static_cast<size_t>(dst.rank)] + static_cast<size_t>(block)] = blocks;
    }
  }

  void token(const Transfer& transfer) {
    Transfer token = made_like(transfer, plan::nothing_of(rank_of(transfer.dst.rank)));
    for (const Region& src : transfer.src) token.src.push_back(plan::nothing_of(rank_of(src.rank)));
    whole_.transfers.push_back(std::move(token));
  }

  void embed(const Transfer& transfer) {
    std::vector<Regions> src;
    for (const Region& source : transfer.src) src.push_back(where(source));
    note(transfer);
    if (borrows(transfer)) return;
    const Regions dst = where(transfer.dst);
    // A movement's item has one value: in a user's `in` it is there from the start.
    if (dst.empty() || dst.front().buffer == Buffer::in) return;
    if (embedding_.one_message) {
      composer_.add_in_one_message(transfer, dst, src);
    } else {
      composer_.add(transfer, dst, src);
    }
  }

  Composer& composer_;
  Plan& whole_;
  const Embedding& embedding_;
  const plan::Definition definition_;
  std::vector<size_t> starts_;  // by the part's rank: its first cell
  std::vector<Cell> cells_;
  std::vector<int32_t> sizes_;  // by cell: blocks of the item that stands there now
  Regions found_;
};

bool all_runs(const Regions& dst, const std::vector<Regions>& src) {
  return dst.size() == 1 && std::all_of(src.begin(), src.end(), [](const Regions& list) { return list.size() == 1; });
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
  if (dst.empty() || (like.kind == TransferKind::copy && dst == src.front())) return;
  if (all_runs(dst, src)) {
    Transfer transfer = made_like(like, dst.front());
    for (const Regions& list : src) transfer.src.push_back(list.front());
    whole_.transfers.push_back(std::move(transfer));
    return;
  }
  const std::vector<Block> to = blocks_in(dst);
  std::vector<std::vector<Block>> from;
  for (const Regions& list : src) from.push_back(blocks_in(list));
  for (size_t low = 0, high = 0; low < to.size(); low = high) {
    high = end_of_run(to, low);
    for (const std::vector<Block>& blocks : from) high = std::min(high, end_of_run(blocks, low));
    Transfer transfer = made_like(like, run_of(to, low, high, dst.front().rank));
    for (size_t i = 0; i < src.size(); ++i) transfer.src.push_back(run_of(from[i], low, high, src[i].front().rank));
    const bool moves = transfer.kind != TransferKind::copy || !(transfer.dst == transfer.src.front());
    if (moves) whole_.transfers.push_back(std::move(transfer));
  }
}

void Composer::add_in_one_message(const Transfer& like, const Regions& dst, std::vector<Regions>& src) {
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

void Composer::embed(const Embedding& embedding) { Embedder(*this, whole_, embedding).run(); }

}  // namespace tutti::algo
