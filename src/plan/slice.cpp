#include "plan/slice.h"

#include <algorithm>
#include <utility>

#include "plan/blocks.h"
#include "plan/elidable_copies.h"
#include "plan/facts.h"

namespace tutti::plan {
namespace {

class Slicer {
 public:
  Slicer(const Plan& staged, int32_t rank)
      : staged_(staged),
        rank_(rank),
        named_(staged),
        held_(staged, BlockTable<Held>::Aliasing::tmp_alone, named_),
        uses_(staged, BlockTable<Use>::Aliasing::none, named_),
        line_(staged.transfers.size(), -1),
        readers_(staged.transfers.size()),
        lines_(static_cast<size_t>(staged.ranks), 0) {
    slice_.rank = rank;
    slice_.transfers = count();
    slice_.stages = staged.transfers.empty() ? 1 : staged.transfers.back().stage + 1;
  }

  Slice run() {
    for (int32_t i = 0; i < count(); ++i) survey(i);
    slice_.most_lines = *std::max_element(lines_.begin(), lines_.end());
    slice_.any_elidable = std::any_of(readers_.begin(), readers_.end(), [](const Readers& readers) {
      return readers.some && !readers.needed;
    });
    slice_.plan = without_transfers(staged_);
    for (int32_t i = 0; i < count(); ++i) {
      if (belongs(staged_.transfers[i])) take(i);
    }
    return std::move(slice_);
  }

 private:
  // The ways in which this rank uses another rank's block.
  enum class Use : uint8_t { none, reads, writes };

  // The contents of a block of tmp.
  struct Held {
    int32_t extent = 0;
    int32_t first_stage = -1;  // the stage of its first write
    int32_t copy = -1;         // the copy that wrote it, if that could be left out
    int32_t block = 0;         // the block of the user's buffer that it copied
  };

  // The ranks that read through a copy that could be left out.
  struct Readers {
    int32_t other = -1;  // a rank beside the owner
    bool some = false, several = false, needed = false;
  };

  int32_t count() const { return static_cast<int32_t>(staged_.transfers.size()); }

  void survey(int32_t i) {
    const Transfer& transfer = staged_.transfers[i];
    const bool is_own = transfer.executor() == rank_;
    for (const Region& src : transfer.src) {
      if (src.buffer == Buffer::tmp) note_read(src, i);
      if (is_own && src.rank != rank_) use(src, Use::reads);
    }
    if (is_own && transfer.dst.rank != rank_) use(transfer.dst, Use::writes);
    if (transfer.dst.buffer == Buffer::tmp) note_written(i);
    extents_.end_list();
  }

  void use(const Region& region, Use how) {
    uses_.each(region, [how](Use& use) { use = std::max(use, how); });
  }

  void touch(const Region& region, const Held& held, int32_t stage) {
    slice_.slot_blocks = std::max(slice_.slot_blocks, region.last() + 1);
    if (held.first_stage >= 0)
      slice_.min_positions = std::max(slice_.min_positions, stage - held.first_stage + 1);
  }

  // Does the same as ElidableCopyFinder::note_read.
  void note_read(const Region& src, int32_t reader) {
    const Transfer& transfer = staged_.transfers[reader];
    const int32_t executor = transfer.executor();
    const Held first = held_.at(src.rank, src.buffer, src.first);
    bool whole = !transfer.any_order;
    for (int32_t k = 0; k < src.count; ++k) {
      const Held& held = held_.at(src.rank, src.buffer, src.first + k * src.stride);
      touch(src, held, transfer.stage);
      whole &=
          held.copy == first.copy && (held.copy < 0 || held.block == first.block + k * src.stride);
    }
    for (int32_t k = 0; k < src.count; ++k) {
      const Held& held = held_.at(src.rank, src.buffer, src.first + k * src.stride);
      if (held.copy < 0) continue;
      Readers& readers = readers_[held.copy];
      readers.some = true;
      readers.needed |= !whole;
      const Transfer& copy = staged_.transfers[held.copy];
      if (executor == copy.executor()) continue;
      readers.several |= readers.other >= 0 && readers.other != executor;
      readers.other = executor;
      // The writes of the copied block decide whether the copy may be left out.
      if (executor == rank_) use(copy.src.front(), Use::reads);
    }
  }

  void note_written(int32_t i) {
    const Transfer& transfer = staged_.transfers[i];
    const Region& src = transfer.src.front();
    const bool could = could_offer(staged_, transfer);
    line_[i] = lines_[transfer.executor()]++;
    for (int32_t k = 0; k < transfer.dst.count; ++k) {
      const int32_t item = extent(src, k);
      extents_.add(item);
      Held& held =
          held_.at(transfer.dst.rank, Buffer::tmp, transfer.dst.first + k * transfer.dst.stride);
      touch(transfer.dst, held, transfer.stage);
      held = {item, held.first_stage < 0 ? transfer.stage : held.first_stage, could ? i : -1,
              src.first + k * src.stride};
    }
  }

  int32_t extent(const Region& region, int32_t k) {
    const int32_t block = region.first + k * region.stride;
    return region.buffer == Buffer::tmp ? held_.at(region.rank, Buffer::tmp, block).extent
                                        : item_of(staged_, region, block);
  }

  bool matters(const Region& region, Use least) {
    bool found = region.rank == rank_;
    uses_.each(region, [&](Use use) { found |= use >= least; });
    return found;
  }

  bool belongs(const Transfer& transfer) {
    return transfer.executor() == rank_ || matters(transfer.dst, Use::reads) ||
           std::any_of(transfer.src.begin(), transfer.src.end(),
                       [this](const Region& src) { return matters(src, Use::writes); });
  }

  void take(int32_t i) {
    const Transfer& transfer = staged_.transfers[i];
    Transfer& taken = slice_.plan.transfers.emplace_back(transfer);
    if (transfer.executor() != rank_ && transfer.kind == TransferKind::reduce) {
      taken.src.clear();
      for (const Region& src : transfer.src) {
        if (matters(src, Use::writes)) taken.src.push_back(src);
      }
      if (taken.src.empty()) taken.src.push_back(transfer.src.front());
    }
    slice_.numbers.push_back(i + 1);
    slice_.lines.push_back(line_[i]);
    for (const int32_t item : extents_[static_cast<size_t>(i)]) slice_.extents.add(item);
    slice_.extents.end_list();
    slice_.needed.push_back(readers_[i].needed);
    slice_.read_by_several.push_back(readers_[i].several);
  }

  const Plan& staged_;
  const int32_t rank_;
  Slice slice_;
  const NamedBlocks named_;
  BlockTable<Held> held_;
  BlockTable<Use> uses_;
  LargeVector<int32_t> line_;     // indexed by transfer
  Lists extents_;                 // indexed by transfer
  LargeVector<Readers> readers_;  // indexed by transfer
  std::vector<int32_t> lines_;    // indexed by rank: how many it has written so far
};

}  // namespace

Slice slice(const Plan& staged, int32_t rank) { return Slicer(staged, rank).run(); }

}  // namespace tutti::plan
