#include "plan/elidable_copies.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "plan/blocks.h"
#include "plan/vector_clocks.h"

namespace tutti::plan {

bool could_offer(const Plan& staged, const Transfer& transfer) {
  if (!has_data(staged.collective) || transfer.kind != TransferKind::copy) return false;
  const Region& src = transfer.src.front();
  const int32_t executor = transfer.executor();
  return transfer.dst.buffer == Buffer::tmp && transfer.dst.rank == executor &&
         src.buffer != Buffer::tmp && src.rank == executor;
}

namespace {

// Walks over a staged plan twice. The first walk finds which transfers read through which copy. The
// second finds, by the waits, which blocks are overwritten too early.
class ElidableCopyFinder {
 public:
  ElidableCopyFinder(const Plan& staged, const Dependences& dependences)
      : staged_(staged), dependences_(dependences), readers_(staged.transfers.size()) {
    found_.copies.resize(staged.transfers.size());
    found_.in_place.assign(static_cast<size_t>(staged.ranks), true);
    found_.returns.resize(static_cast<size_t>(staged.ranks));
  }

  ElidableCopies run() {
    find_readers();
    find_overwriting();
    find_returns();
    return std::move(found_);
  }

 private:
  struct Held {
    int32_t copy = -1;  // the copy that wrote the block; -1: another transfer did
    int32_t block = 0;  // the block of the user's buffer that it copied
  };

  void find_readers() {
    BlockTable<Held> table(staged_, BlockTable<Held>::Aliasing::none);
    for (int32_t i = 0; i < count(); ++i) {
      const Transfer& transfer = staged_.transfers[i];
      for (const Region& src : transfer.src) {
        if (src.buffer == Buffer::tmp) note_read(table, src, i);
      }
      if (transfer.dst.buffer != Buffer::tmp) continue;
      const bool could = could_offer(staged_, transfer);
      found_.copies[i] = could;
      for (int32_t k = 0; k < transfer.dst.count; ++k) {
        Held& held =
            table.at(transfer.dst.rank, Buffer::tmp, transfer.dst.first + k * transfer.dst.stride);
        held =
            could ? Held{i, transfer.src.front().first + k * transfer.src.front().stride} : Held{};
      }
    }
    for (int32_t i = 0; i < count(); ++i) {
      if (readers_[i].empty()) found_.copies[i] = false;
    }
  }

  // A reader takes all of a region from one copy, or none of it. A run of blocks must be a run in
  // the user's buffer, too.
  void note_read(BlockTable<Held>& table, const Region& src, int32_t reader) {
    if (src.count == 0) return;  // a token
    const Held first = table.at(src.rank, src.buffer, src.first);
    bool whole = !staged_.transfers[reader].any_order;
    for (int32_t k = 0; k < src.count; ++k) {
      const Held& held = table.at(src.rank, src.buffer, src.first + k * src.stride);
      if (held.copy >= 0 && (held.copy != first.copy || held.block != first.block + k * src.stride))
        whole = false;
      if (held.copy < 0 && first.copy >= 0) whole = false;
    }
    for (int32_t k = 0; k < src.count; ++k) {
      const Held& held = table.at(src.rank, src.buffer, src.first + k * src.stride);
      if (held.copy < 0) continue;
      if (!whole) found_.copies[held.copy] = false;
      if (readers_[held.copy].empty() || readers_[held.copy].back() != reader)
        readers_[held.copy].push_back(reader);
    }
  }

  // A read of a user's block that bypasses the slot. The table has the reads of each block; `in`
  // and `out` share their entries, because they may be one buffer.
  struct Read {
    Buffer buffer;
    int32_t copy;
  };

  void find_overwriting() {
    VectorClocks known(staged_);
    BlockTable<std::vector<Read>> table(
        staged_, BlockTable<std::vector<Read>>::Aliasing::user_buffers_are_one);
    for (int32_t i = 0; i < count(); ++i) {
      const Transfer& transfer = staged_.transfers[i];
      const int32_t executor = transfer.executor();
      for (int32_t earlier : dependences_.waits[i]) known.wait(executor, earlier);
      for (int32_t earlier : dependences_.arrivals[i]) {
        if (earlier >= 0) known.wait(executor, earlier);
      }
      if (transfer.dst.buffer != Buffer::tmp) {
        const bool harmless = leaves_as_it_is(transfer);
        table.each(transfer.dst, [&](std::vector<Read>& reads) {
          for (const Read& read : reads) {
            if (!harmless || read.buffer == transfer.dst.buffer) check_overwriting(known, i, read);
          }
        });
      }
      known.execute(executor, i);
      if (!found_.copies[i]) continue;
      const Region& src = transfer.src.front();
      table.each(src, [&](std::vector<Read>& reads) { reads.push_back({src.buffer, i}); });
    }
    known_at_end_ = std::make_unique<VectorClocks>(std::move(known));
  }

  // True for a copy from a rank's `in` to the same place of its `out`. In place it does nothing,
  // and otherwise it does not change `in`, so it conflicts only with reads of `out`.
  static bool leaves_as_it_is(const Transfer& transfer) {
    const Region& src = transfer.src.front();
    return transfer.kind == TransferKind::copy && src.buffer == Buffer::in &&
           src.rank == transfer.dst.rank && src.first == transfer.dst.first &&
           src.count == transfer.dst.count && src.stride == transfer.dst.stride;
  }

  void check_overwriting(const VectorClocks& known, int32_t writer, const Read& read) {
    const Transfer& transfer = staged_.transfers[writer];
    const bool all_read =
        std::all_of(readers_[read.copy].begin(), readers_[read.copy].end(), [&](int32_t reader) {
          const int32_t by = staged_.transfers[reader].executor();
          if (by == transfer.executor())
            return reader < writer || (reader == writer && transfer.src.size() == 1);
          return known.knows(transfer.executor(), staged_, reader);
        });
    if (all_read) return;
    if (read.buffer == transfer.dst.buffer) {
      found_.copies[read.copy] = false;
    } else {
      found_.in_place[transfer.dst.rank] = false;
    }
  }

  void find_returns() {
    std::vector<std::vector<int32_t>> last(static_cast<size_t>(staged_.ranks));
    for (int32_t i = 0; i < count(); ++i) {
      if (!found_.copies[i]) continue;
      found_.any = true;
      const int32_t owner = staged_.transfers[i].executor();
      for (int32_t reader : readers_[i]) {
        if (staged_.transfers[reader].executor() != owner) last[owner].push_back(reader);
      }
    }
    // By reading rank: the last owner that waits for it.
    std::vector<int32_t> waited_by(static_cast<size_t>(staged_.ranks), -1);
    for (int32_t owner = 0; owner < staged_.ranks; ++owner) {
      std::sort(last[owner].begin(), last[owner].end(), std::greater<>());
      last[owner].erase(std::unique(last[owner].begin(), last[owner].end()), last[owner].end());
      for (int32_t reader : last[owner]) {
        const bool waits_for_later =
            std::exchange(waited_by[staged_.transfers[reader].executor()], owner) == owner;
        if (waits_for_later || known_at_end_->knows(owner, staged_, reader)) continue;
        known_at_end_->wait(owner, reader);
        found_.returns[owner].push_back(reader);
      }
      std::reverse(found_.returns[owner].begin(), found_.returns[owner].end());
    }
  }

  int32_t count() const { return static_cast<int32_t>(staged_.transfers.size()); }

  const Plan& staged_;
  const Dependences& dependences_;
  std::vector<std::vector<int32_t>> readers_;  // by copy, in plan order
  std::unique_ptr<VectorClocks> known_at_end_;
  ElidableCopies found_;
};

}  // namespace

ElidableCopies find_elidable_copies(const Plan& staged, const Dependences& dependences) {
  return ElidableCopyFinder(staged, dependences).run();
}

}  // namespace tutti::plan
