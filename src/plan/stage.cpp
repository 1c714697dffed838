#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "base/error.h"
#include "plan/blocks.h"
#include "plan/check.h"
#include "plan/lower.h"

namespace tutti::plan {
namespace {

// Rewrites one plan so that remote user buffers are reached through `tmp`.
class Stager {
 public:
  explicit Stager(const Plan& plan)
      : staged_(plan), next_(plan.ranks, 0), written_(plan, BlockTable<size_t>::Aliasing::none) {
    staged_.transfers.clear();
    staged_.transfers.reserve(plan.transfers.size() * 2);
    for (const Transfer& transfer : plan.transfers) {
      note_tmp(transfer.dst);
      for (const Region& src : transfer.src) note_tmp(src);
    }
  }

  void add(Transfer transfer) {
    const int32_t executor = transfer.executor();
    for (Region& src : transfer.src) {
      if (src.rank != executor && src.buffer != Buffer::tmp) src = staged_copy(src, transfer);
    }
    const Region dst = transfer.dst;
    if (dst.rank != executor && dst.buffer != Buffer::tmp) {
      transfer.dst = fresh(dst);
      Transfer arrive = copy_at(transfer, dst, transfer.dst);
      staged_.transfers.push_back(std::move(transfer));
      staged_.transfers.push_back(std::move(arrive));
    } else {
      staged_.transfers.push_back(std::move(transfer));
    }
    if (dst.buffer != Buffer::out) return;
    written_.each(dst, [this](size_t& written) { written = staged_.transfers.size(); });
  }

  Plan take() { return std::move(staged_); }

 private:
  using Key = std::tuple<int32_t, Buffer, int32_t, int32_t, int32_t>;
  static Key key(const Region& r) { return {r.rank, r.buffer, r.first, r.count, r.stride}; }

  struct Copy {
    Region region;
    size_t made = 0;  // its number among the staged transfers, from 0
  };

  // A copy that was written where `transfer` was, for messages.
  static Transfer copy_at(const Transfer& transfer, const Region& dst, const Region& src) {
    return {TransferKind::copy, false, stage_automatic, transfer.line, dst, {src}, transfer.file};
  }

  void note_tmp(const Region& region) {
    if (region.buffer == Buffer::tmp) next_[region.rank] = std::max(next_[region.rank], region.last() + 1);
  }

  Region fresh(const Region& like) {
    Region region = tmp(like.rank, next_[like.rank], like.count);
    next_[like.rank] += like.count;
    return region;
  }

  // A value is copied into the slot once, whoever reads it, until its owner overwrites it.
  Region staged_copy(const Region& src, const Transfer& reader) {
    auto [entry, is_new] = copies_.try_emplace(key(src));
    Copy& copy = entry->second;
    if (is_new || overwritten(src, copy.made)) {
      copy = {fresh(src), staged_.transfers.size()};
      staged_.transfers.push_back(copy_at(reader, copy.region, src));
    }
    return copy.region;
  }

  // Asked when a copy is wanted, not noted when a block is written: so each costs what the transfer itself does.
  bool overwritten(const Region& src, size_t made) {
    bool found = false;
    if (src.buffer == Buffer::out) written_.each(src, [&](size_t written) { found |= written > made; });
    return found;
  }

  Plan staged_;
  std::vector<int32_t> next_;  // first unused block of each rank's tmp
  std::map<Key, Copy> copies_;
  BlockTable<size_t> written_;  // of `out`: how many staged transfers there were behind the last that wrote a block
};

// What each block last saw, for stages: a user's `in` and `out` may be one buffer, so they count as one here.
struct LastUse {
  int32_t writer = -1;
  std::vector<int32_t> readers;
};

// What a rank has so far, for the stages of tokens and of what follows them.
struct Reached {
  int32_t latest = -1;  // the largest stage of its transfers
  int32_t least = 0;    // the stage of its last token, which nothing behind it may precede
};

}  // namespace

void schedule(Plan& plan) {
  BlockTable<LastUse> table(plan, BlockTable<LastUse>::Aliasing::user_buffers_are_one);
  std::vector<Reached> reached(static_cast<size_t>(plan.ranks));
  auto& transfers = plan.transfers;
  for (int32_t i = 0; i < static_cast<int32_t>(transfers.size()); ++i) {
    Transfer& transfer = transfers[i];
    const int32_t executor = transfer.executor();
    int32_t stage = std::max(transfer.stage, reached[executor].least);
    auto after = [&](int32_t earlier) {
      if (earlier < 0 || earlier == i) return;
      const bool handed_over = transfers[earlier].executor() != executor && transfer.stage == stage_automatic;
      stage = std::max(stage, transfers[earlier].stage + (handed_over ? 1 : 0));
    };
    for (const Region& src : transfer.src) {
      table.each(src, [&](LastUse& use) {
        after(use.writer);
        use.readers.push_back(i);
      });
    }
    table.each(transfer.dst, [&](LastUse& use) {
      after(use.writer);
      for (int32_t reader : use.readers) after(reader);
      use.writer = i;
      use.readers.clear();
    });
    if (transfer.kind == TransferKind::token) {
      for (const Region& src : transfer.src) {
        const int32_t latest = reached[src.rank].latest;
        if (latest >= 0) stage = std::max(stage, latest + (transfer.stage == stage_automatic ? 1 : 0));
      }
      reached[executor].least = stage;
    }
    reached[executor].latest = std::max(reached[executor].latest, stage);
    transfer.stage = stage;
  }
  std::stable_sort(transfers.begin(), transfers.end(),
                   [](const Transfer& one, const Transfer& other) { return one.stage < other.stage; });
}

Plan stage(const Plan& plan) {
  if (const int64_t moved = moves(plan); moved > max_moves) {
    throw Error(Code::invalid_plan, "the plan moves " + std::to_string(moved) + " blocks, more than the " +
                                        std::to_string(max_moves) +
                                        " that a program is made of; use fewer, larger blocks");
  }
  Stager stager(plan);
  for (const Transfer& transfer : plan.transfers) stager.add(transfer);
  Plan staged = stager.take();
  schedule(staged);
  return staged;
}

}  // namespace tutti::plan
