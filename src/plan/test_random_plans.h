// Random right plans and random changes of plans, for property tests only.
//
// A plan is made unit by unit; a unit is some blocks of the vector that travel together, or a part
// of a parted collective. A random tree combines the ranks' data in rank order (in a commutative
// plan in another order, or that of arrival). Partial results detour through `tmp`, transfers are
// pushed or pulled, and blocks of `tmp` are used again once they have been read. Then random
// holders pass the result on. The units' transfers are shuffled into one plan. The same seed gives
// the same plan.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "plan/plan.h"

namespace tutti::plan {

class RandomPlan {
 public:
  explicit RandomPlan(uint64_t seed, int32_t most_ranks = 7)
      : random_(seed * 7919 + 1), most_ranks_(most_ranks) {}

  Plan make() {
    plan_.collective = static_cast<Collective>(below(collective_count));
    plan_.algorithm = "random";
    plan_.ranks = 1 + below(most_ranks_);
    plan_.root = rooted(plan_.collective) ? below(plan_.ranks) : 0;
    plan_.commutative = chance(3);
    plan_.blocks = plan_.collective == Collective::barrier || chance(3) ? 1 : 1 + below(5);
    if (parted(plan_.collective)) plan_.blocks = plan_.ranks;
    next_tmp_.assign(plan_.ranks, 0);
    std::vector<std::vector<Transfer>> units;
    if (parted(plan_.collective)) {
      make_parts(units);
    } else {
      for (const Region& shape : cut_into_units()) units.push_back(make_unit(shape));
    }
    shuffle_together(std::move(units));
    if (chance(3)) add_tokens();
    if (chance(4)) give_stages();
    return std::move(plan_);
  }

 private:
  int32_t below(int32_t limit) {
    return static_cast<int32_t>(random_() % static_cast<uint64_t>(limit));
  }
  bool chance(int32_t one_in) { return below(one_in) == 0; }

  // The blocks of the vector as runs, some with every second block.
  std::vector<Region> cut_into_units() {
    std::vector<Region> shapes;
    int32_t first = 0;
    while (first < plan_.blocks) {
      const int32_t left = plan_.blocks - first;
      if (left >= 4 && chance(2)) {
        shapes.push_back({0, Buffer::in, first, 2, 2});
        shapes.push_back({0, Buffer::in, first + 1, 2, 2});
        first += 4;
      } else {
        const int32_t count = 1 + below(left);
        shapes.push_back({0, Buffer::in, first, count, 1});
        first += count;
      }
    }
    return shapes;
  }

  Region user(int32_t rank, Buffer buffer) const {
    const int32_t first = buffer == Buffer::out && out_first_ >= 0 ? out_first_ : shape_.first;
    return {rank, buffer, first, shape_.count, shape_.stride};
  }

  Region take_tmp(int32_t rank) {
    auto& free = free_[rank];
    if (!free.empty() && chance(2)) {
      const Region region = free.back();
      free.pop_back();
      return region;
    }
    const int32_t stride = shape_.count > 1 ? 1 + below(2) : 1;
    const Region region{rank, Buffer::tmp, next_tmp_[rank], shape_.count, stride};
    next_tmp_[rank] = region.last() + 1;
    return region;
  }

  void done_with(const Region& region) {
    if (region.buffer == Buffer::tmp) free_[region.rank].push_back(region);
  }

  void add(const Region& dst, const std::vector<Region>& sources) {
    const bool one_rank = std::all_of(sources.begin(), sources.end(), [&](const Region& source) {
      return source.rank == sources.front().rank;
    });
    const TransferKind kind = sources.size() == 1 ? TransferKind::copy : TransferKind::reduce;
    Transfer transfer{kind, one_rank && chance(3), stage_automatic, 0, dst, sources};
    transfer.any_order =
        plan_.commutative && kind == TransferKind::reduce && !transfer.push && chance(2);
    unit_.push_back(std::move(transfer));
  }

  Region detour(const Region& source) {
    const Region region = take_tmp(below(plan_.ranks));
    add(region, {source});
    done_with(source);
    return region;
  }

  // Adds transfers that combine the data of ranks [low, high), and returns the result's region.
  Region combined(int32_t low, int32_t high) {
    if (high - low == 1) return chance(4) ? detour(user(low, Buffer::in)) : user(low, Buffer::in);
    std::vector<Region> sources;
    const int32_t parts = std::min(high - low, 2 + below(3));
    for (int32_t i = 0; i < parts; ++i) {
      sources.push_back(
          combined(low + (high - low) * i / parts, low + (high - low) * (i + 1) / parts));
    }
    const bool any_order = plan_.commutative || plan_.collective == Collective::barrier;
    if (any_order) std::shuffle(sources.begin(), sources.end(), random_);
    if (chance(6)) gather_at(below(plan_.ranks), sources);
    const Region& some = sources[below(parts)];
    const Region dst =
        some.buffer == Buffer::tmp && chance(3) ? some : take_tmp(below(plan_.ranks));
    add(dst, sources);
    for (const Region& source : sources) {
      if (!(source == dst)) done_with(source);
    }
    return chance(6) ? detour(dst) : dst;
  }

  // Copies the sources to one rank, so that a reduce of them can be pushed.
  void gather_at(int32_t rank, std::vector<Region>& sources) {
    for (Region& source : sources) {
      if (source.rank == rank) continue;
      const Region region = take_tmp(rank);
      add(region, {source});
      done_with(source);
      source = region;
    }
  }

  void hand_on(std::vector<Region> holders, std::vector<int32_t> to) {
    std::shuffle(to.begin(), to.end(), random_);
    for (int32_t rank : to) {
      Region source = holders[below(static_cast<int32_t>(holders.size()))];
      if (chance(5)) {
        const Region region = take_tmp(below(plan_.ranks));
        add(region, {source});
        holders.push_back(region);
        source = region;
      }
      add(user(rank, Buffer::out), {source});
      holders.push_back(user(rank, Buffer::out));
    }
  }

  // A unit is one part: block `in_first` of the ranks' `in` becomes block `out_first` of an `out`.
  void make_parts(std::vector<std::vector<Transfer>>& units) {
    const auto begin = [&](int32_t in_first, int32_t out_first) {
      shape_ = {0, Buffer::in, in_first, 1, 1};
      out_first_ = out_first;
      unit_.clear();
      free_.clear();
    };
    std::vector<int32_t> all;
    for (int32_t rank = 0; rank < plan_.ranks; ++rank) all.push_back(rank);
    for (int32_t part : all) {
      if (plan_.collective == Collective::alltoall) {
        for (int32_t to : all) {
          begin(to, part);
          hand_on({user(part, Buffer::in)}, {to});
          units.push_back(std::move(unit_));
        }
        continue;
      }
      begin(parted_in(plan_.collective) ? part : 0, parted_out(plan_.collective) ? part : 0);
      if (plan_.collective == Collective::gather) hand_on({user(part, Buffer::in)}, {plan_.root});
      if (plan_.collective == Collective::allgather) hand_on({user(part, Buffer::in)}, all);
      if (plan_.collective == Collective::scatter) hand_on({user(plan_.root, Buffer::in)}, {part});
      if (plan_.collective == Collective::reduce_scatter)
        hand_on({combined(0, plan_.ranks)}, {part});
      units.push_back(std::move(unit_));
    }
  }

  std::vector<Transfer> make_unit(const Region& shape) {
    shape_ = shape;
    unit_.clear();
    free_.clear();
    if (plan_.collective == Collective::scan || plan_.collective == Collective::exscan) {
      const int32_t own = plan_.collective == Collective::scan ? 1 : 0;
      for (int32_t rank = 1 - own; rank < plan_.ranks; ++rank)
        hand_on({combined(0, rank + own)}, {rank});
      return std::move(unit_);
    }
    std::vector<int32_t> to;
    for (int32_t rank = 0; rank < plan_.ranks; ++rank) {
      const bool is_root = rank == plan_.root;
      if (plan_.collective == Collective::bcast
              ? !is_root
              : plan_.collective != Collective::reduce || is_root) {
        to.push_back(rank);
      }
    }
    if (plan_.collective == Collective::bcast) {
      hand_on({user(plan_.root, Buffer::in)}, to);
    } else if (chance(4)) {
      for (int32_t rank : to)
        add(user(rank, Buffer::out), {combined(0, plan_.ranks)});  // each rank combines anew
    } else {
      hand_on({combined(0, plan_.ranks)}, to);
    }
    return std::move(unit_);
  }

  void shuffle_together(std::vector<std::vector<Transfer>> units) {
    std::vector<size_t> at(units.size(), 0);
    while (true) {
      std::vector<size_t> left;
      for (size_t i = 0; i < units.size(); ++i) {
        if (at[i] < units[i].size()) left.push_back(i);
      }
      if (left.empty()) return;
      const size_t unit = left[below(static_cast<int32_t>(left.size()))];
      plan_.transfers.push_back(units[unit][at[unit]++]);
    }
  }

  // Tokens may be anywhere, because they only order execution and change no result.
  void add_tokens() {
    for (int32_t left = plan_.ranks == 1 ? 0 : 1 + below(3); left > 0; --left) {
      const int32_t rank = below(plan_.ranks);
      Transfer token{TransferKind::token, false, stage_automatic, 0, nothing_of(rank), {}};
      for (int32_t other = 0; other < plan_.ranks; ++other) {
        if (other != rank && (chance(3) || other == (rank + 1) % plan_.ranks))
          token.src.push_back(nothing_of(other));
      }
      const auto at =
          plan_.transfers.begin() + below(static_cast<int32_t>(plan_.transfers.size()) + 1);
      plan_.transfers.insert(at, std::move(token));
    }
  }

  void give_stages() {
    int32_t stage = 0;
    for (Transfer& transfer : plan_.transfers) {
      if (chance(3)) stage += 1 + below(2);
      transfer.stage = stage;
    }
  }

  std::mt19937_64 random_;
  int32_t most_ranks_;
  Plan plan_;
  std::vector<int32_t> next_tmp_;
  Region shape_;
  int32_t out_first_ = -1;  // the first block of a part in `out`; -1: the same as in `in`
  std::vector<Transfer> unit_;
  std::map<int32_t, std::vector<Region>> free_;
};

// Makes one random change, which breaks most plans, and some of them in their form.
inline void change(Plan& plan, std::mt19937_64& random) {
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  if (plan.transfers.empty()) return;
  const size_t which = below(plan.transfers.size());
  Transfer& transfer = plan.transfers[which];
  const size_t place = below(transfer.src.size() + 1);
  Region& region = place == 0 ? transfer.dst : transfer.src[place - 1];
  switch (below(11)) {
    case 0: plan.transfers.erase(plan.transfers.begin() + static_cast<ptrdiff_t>(which)); break;
    case 1: std::swap(transfer, plan.transfers[below(plan.transfers.size())]); break;
    case 2: region.rank = static_cast<int32_t>(below(static_cast<size_t>(plan.ranks) + 1)); break;
    case 3: region.first += static_cast<int32_t>(below(3)) - 1; break;
    case 4:
      transfer.src.push_back(transfer.src[below(transfer.src.size())]);
      transfer.kind = TransferKind::reduce;
      break;
    case 5:
      std::shift_left(transfer.src.begin() + below(transfer.src.size()), transfer.src.end(), 1);
      transfer.src.pop_back();
      if (transfer.src.size() == 1) transfer.kind = TransferKind::copy;
      if (transfer.src.empty())
        plan.transfers.erase(plan.transfers.begin() + static_cast<ptrdiff_t>(which));
      break;
    case 6: std::swap(transfer.src.front(), transfer.src[below(transfer.src.size())]); break;
    case 7: region.buffer = static_cast<Buffer>(below(3)); break;
    case 8: transfer.push = !transfer.push; break;
    case 9: region.stride = 1 + static_cast<int32_t>(below(3)); break;
    case 10: transfer.any_order = !transfer.any_order; break;
  }
}

}  // namespace tutti::plan
