// How the transfers of a part become transfers of the whole plan. The part is read twice: first to
// find how much `tmp` it needs, then to write it.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "algo/compose.h"

namespace tutti::algo {
namespace {

using plan::Buffer;
using plan::Plan;
using plan::Region;
using plan::Transfer;
using plan::TransferKind;

// A block of the part's `tmp`.
struct Cell {
  int32_t first = -1;  // its first block in the whole plan's `tmp`
  int32_t room = 0;    // blocks of the largest item that it ever holds
  int32_t writes = 0;
  bool alone = true;      // no transfer names it together with other blocks
  int64_t item = 0;       // the item that it holds now
  int32_t blocks = 0;     // the blocks of that item
  bool borrowed = false;  // the item was not copied here; it is read from `in`
};

class Embedder {
 public:
  Embedder(Composer& composer, Plan& whole, const Embedding& embedding)
      : composer_(composer),
        whole_(whole),
        embedding_(embedding),
        part_(embedding.part),
        definition_(part_.definition()),
        writes_(static_cast<size_t>(part_.ranks), 0) {}

  void run() {
    count_tmp();
    for (const Transfer& transfer : part_.transfers) look_at(transfer);
    put_at_results();
    lay_out_tmp();
    std::fill(writes_.begin(), writes_.end(), 0);
    for (const Transfer& transfer : part_.transfers) {
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
    std::vector<int32_t> blocks(static_cast<size_t>(part_.ranks), 0);
    for (const Transfer& transfer : part_.transfers) {
      const Region& dst = transfer.dst;
      int32_t& most = blocks[static_cast<size_t>(dst.rank)];
      if (transfer.kind != TransferKind::token && dst.buffer == Buffer::tmp)
        most = std::max(most, dst.last() + 1);
    }
    starts_.assign(1, 0);
    for (const int32_t count : blocks)
      starts_.push_back(starts_.back() + static_cast<size_t>(count));
    cells_.resize(starts_.back());
  }

  Cell& cell(int32_t rank, int32_t block) {
    return cells_[starts_[static_cast<size_t>(rank)] + static_cast<size_t>(block)];
  }

  void look_at(const Transfer& transfer) {
    if (transfer.kind == TransferKind::token) return;
    if (embedding_.one_message) count_reads(transfer);
    const Region& dst = transfer.dst;
    see_neighbours(dst);
    for (const Region& src : transfer.src) see_neighbours(src);
    for (int32_t k = 0; dst.buffer == Buffer::out && k < dst.count; ++k)
      ++result_writes_[{dst.rank, dst.first + k * dst.stride}];
    note(transfer);
  }

  void see_neighbours(const Region& region) {
    if (region.buffer != Buffer::tmp || region.count == 1) return;
    for (int32_t k = 0; k < region.count; ++k)
      cell(region.rank, region.first + k * region.stride).alone = false;
  }

  // If a cell is only copied to a result that lies in `tmp`, the cell is put where the result is.
  void put_at_results() {
    for (const Transfer& transfer : part_.transfers) {
      const Region &dst = transfer.dst, &src = transfer.src.front();
      const bool arrives = transfer.kind == TransferKind::copy && src.rank == dst.rank &&
                           src.buffer == Buffer::tmp && dst.buffer == Buffer::out && dst.count == 1;
      if (!arrives || result_writes_[{dst.rank, dst.first}] != 1) continue;
      Cell& from = cell(src.rank, src.first);
      if (!from.alone || from.writes != 1 || from.borrowed || from.first >= 0) continue;
      Regions lies;
      embedding_.out(dst.rank, definition_.item_out(dst.rank, dst.first), lies);
      if (lies.size() == 1 && lies.front().buffer == Buffer::tmp && lies.front().stride == 1)
        from.first = lies.front().first;
    }
  }

  void lay_out_tmp() {
    for (int32_t rank = 0; rank < part_.ranks; ++rank) {
      for (size_t at = starts_[static_cast<size_t>(rank)];
           at < starts_[static_cast<size_t>(rank) + 1]; ++at) {
        Cell& cell = cells_[at];
        if (cell.first < 0) cell.first = composer_.scratch(rank_of(rank), cell.room).first;
      }
    }
  }

  int64_t item_at(const Region& region, int32_t block) {
    if (region.buffer == Buffer::in) return definition_.item_in(region.rank, block);
    if (region.buffer == Buffer::out) return definition_.item_out(region.rank, block);
    return cell(region.rank, block).item;
  }

  // Appends the regions where the item of a block is now.
  void append_block(const Region& region, int32_t block, Regions& regions) {
    const int64_t item = item_at(region, block);
    const bool borrowed = region.buffer == Buffer::tmp && cell(region.rank, block).borrowed;
    if (region.buffer == Buffer::in || borrowed) return embedding_.in(region.rank, item, regions);
    if (region.buffer == Buffer::out) return embedding_.out(region.rank, item, regions);
    append(regions, plan::tmp(rank_of(region.rank), cell(region.rank, block).first,
                              cell(region.rank, block).blocks));
  }

  Regions where(const Region& region) {
    Regions regions;
    for (int32_t k = 0; k < region.count; ++k)
      append_block(region, region.first + k * region.stride, regions);
    return regions;
  }

  bool borrows(const Transfer& transfer) {
    const Region& src = transfer.src.front();
    if (transfer.kind != TransferKind::copy || transfer.dst.buffer != Buffer::tmp ||
        src.buffer != Buffer::in || src.rank != transfer.dst.rank) {
      return false;
    }
    if (embedding_.in_stays) return true;
    const Regions lies = where(src);
    return std::all_of(lies.begin(), lies.end(),
                       [](const Region& region) { return region.buffer == Buffer::tmp; });
  }

  // Notes what the cells that a transfer writes hold after it.
  void note(const Transfer& transfer) {
    if (transfer.dst.buffer != Buffer::tmp) return;
    const bool borrowed = borrows(transfer);
    const Region &dst = transfer.dst, &src = transfer.src.front();
    for (int32_t k = 0; k < dst.count; ++k) {
      const int32_t from = src.first + k * src.stride;
      found_.clear();
      append_block(src, from, found_);
      Cell& to = cell(dst.rank, dst.first + k * dst.stride);
      to.blocks = blocks_of(found_);
      to.item = item_at(src, from);
      to.borrowed = borrowed;
      ++to.writes;
      if (!borrowed) to.room = std::max(to.room, to.blocks);
    }
  }

  void token(const Transfer& transfer) {
    Transfer token;
    token.kind = TransferKind::token;
    token.dst = plan::nothing_of(rank_of(transfer.dst.rank));
    for (const Region& src : transfer.src) token.src.push_back(plan::nothing_of(rank_of(src.rank)));
    whole_.transfers.push_back(std::move(token));
  }

  // A region that a rank reads from another rank. The last number counts the transfers that have
  // written the owner's blocks, so that reads before and after a write differ.
  using Read = std::tuple<int32_t, int32_t, Buffer, int32_t, int32_t, int32_t, int32_t>;
  Read read(const Transfer& transfer, const Region& src) const {
    return {transfer.dst.rank,
            src.rank,
            src.buffer,
            src.first,
            src.count,
            src.stride,
            writes_[static_cast<size_t>(src.rank)]};
  }

  void count_reads(const Transfer& transfer) {
    for (const Region& src : transfer.src) {
      if (src.rank != transfer.dst.rank) ++messages_[read(transfer, src)].reads;
    }
    ++writes_[static_cast<size_t>(transfer.dst.rank)];
  }

  // Data that a rank reads several times is sent to it once and read from its copy.
  Regions arrived(const Transfer& transfer, const Region& src) {
    if (src.rank == transfer.dst.rank) return where(src);
    Message& message = messages_[read(transfer, src)];
    if (message.reads < 2) return where(src);
    if (message.landed.empty()) {
      std::vector<Regions> list{where(src)};
      append(message.landed,
             composer_.scratch(rank_of(transfer.dst.rank), blocks_of(list.front())));
      composer_.add_in_one_message({}, message.landed, list);
    }
    return message.landed;
  }

  void embed(const Transfer& transfer) {
    std::vector<Regions> src;
    for (const Region& source : transfer.src)
      src.push_back(embedding_.one_message ? arrived(transfer, source) : where(source));
    ++writes_[static_cast<size_t>(transfer.dst.rank)];
    note(transfer);
    if (borrows(transfer)) return;
    const Regions dst = where(transfer.dst);
    // In a data-movement collective an item never changes its value, so a user's `in` has it
    // already.
    if (dst.empty() || dst.front().buffer == Buffer::in) return;
    if (embedding_.one_message) {
      composer_.add_in_one_message(transfer, dst, src);
    } else {
      composer_.add(transfer, dst, src);
    }
  }

  struct Message {
    int32_t reads = 0;
    Regions landed;  // the reader's copy; empty until it is sent
  };

  Composer& composer_;
  Plan& whole_;
  const Embedding& embedding_;
  const Plan& part_;
  const plan::Definition definition_;
  std::vector<size_t> starts_;  // indexed by the part's rank: its first cell
  std::vector<Cell> cells_;
  // Indexed by rank and block of `out`.
  std::map<std::pair<int32_t, int32_t>, int32_t> result_writes_;
  std::vector<int32_t> writes_;       // indexed by rank: transfers that have written its blocks
  std::map<Read, Message> messages_;  // the data that one rank reads from another
  Regions found_;
};

}  // namespace

void Composer::embed(const Embedding& embedding) { Embedder(*this, whole_, embedding).run(); }

}  // namespace tutti::algo
