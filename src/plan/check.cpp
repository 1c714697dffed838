#include "plan/check.h"

#include <algorithm>
#include <deque>

#include "base/error.h"
#include "plan/blocks.h"
#include "plan/fault.h"
#include "plan/intervals.h"
#include "plan/text.h"

namespace tutti::plan {
namespace {

// The most intervals of ranks in all partial results together. max_moves does not bound them in
// plans that are `commutative`.
constexpr size_t max_pieces = size_t{1} << 25;

// The contents of a block: leaves of one item (for a barrier, arrivals). A value is constant once
// made, and shared by all blocks to which it was copied.
struct Value {
  uint64_t expression;  // hash: equal for equal expressions
  int64_t item;         // Definition::item_in
  bool ordered;         // made by joining neighbours in rank order: then `leaves` is one interval
  KeptIntervals leaves;
};

constexpr size_t no_transfer = SIZE_MAX;

struct Cell {
  const Value* value = nullptr;  // null: nothing, or a rank's own data that was not read yet
  size_t writer = no_transfer;
};

uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Executes one plan on symbols.
class Checker {
 public:
  explicit Checker(const Plan& plan)
      : plan_(plan),
        definition_(plan.definition()),
        reduces_(combines(plan.collective)),
        cells_(plan, BlockTable<Cell>::Aliasing::none) {}

  Verdict run() {
    for (index_ = 0; index_ < plan_.transfers.size(); ++index_) execute(plan_.transfers[index_]);
    return verdict();
  }

 private:
  [[noreturn]] void refuse_here(const std::string& message) const {
    refuse(place(plan_, index_), shortened(plan_.transfers[index_]) + ": " + message);
  }

  // The root of a bcast has one buffer, its `in` and `out`.
  Cell& cell(int32_t rank, Buffer buffer, int32_t block) {
    if (one_buffer(plan_.collective) && rank == plan_.root && buffer == Buffer::out)
      buffer = Buffer::in;
    return cells_.at(rank, buffer, block);
  }

  static std::string block_text(const Region& region, int32_t block) {
    return print(Region{region.rank, region.buffer, block, 1, 1});
  }

  std::string collective_text() const {
    const std::string_view word = name(plan_.collective);
    return (std::string_view("aeiou").find(word.front()) == std::string_view::npos ? "a " : "an ") +
           std::string(word);
  }

  std::string item_text(int64_t item) const {
    const std::string number = std::to_string(item);
    if (exchanges(plan_.collective))
      return "the part of rank " + std::to_string(item / plan_.ranks) + " for rank " +
             std::to_string(item % plan_.ranks);
    if (parted_out(plan_.collective)) return "the part of rank " + number;
    if (parted_in(plan_.collective)) return "the part for rank " + number;
    return "block " + number + " of the vector";
  }

  const Value* keep(Value value) {
    values_.push_back(std::move(value));
    return &values_.back();
  }

  bool is_leaf(const Value& value, int32_t rank, int32_t block) const {
    return value.item == definition_.item_in(rank, block) && value.leaves.all().size() == 1 &&
           value.leaves.front().low == rank && value.leaves.front().high == rank + 1;
  }

  const Value* read(const Region& region, int32_t k) {
    const int32_t block = region.first + k * region.stride;
    if (region.buffer == Buffer::in && in_place_) find_clobbered(region.rank, block);
    if (const Value* value = cell(region.rank, region.buffer, block).value; value != nullptr)
      return value;
    if (region.buffer != Buffer::tmp && one_buffer(plan_.collective) && region.rank == plan_.root) {
      return leaf(region.rank, block);
    }
    if (region.buffer == Buffer::in && definition_.has_in(region.rank))
      return leaf(region.rank, block);
    refuse_here(region.buffer == Buffer::in
                    ? print(region) + " holds nothing: only the root of " + collective_text() +
                          " has an `in`; read `out` or `tmp`"
                    : "it reads " + block_text(region, block) +
                          ", which nobody wrote; write it in a line before");
  }

  const Value* leaf(int32_t rank, int32_t block) {
    const Value* value =
        keep({mix(mix(static_cast<uint32_t>(rank) + 1) + static_cast<uint32_t>(block)),
              definition_.item_in(rank, block), true, Interval{rank, rank + 1}});
    cell(rank, Buffer::in, block) = {value, no_transfer};
    return value;
  }

  // In place, a read of `in` returns the present contents of `out`. If these are still the rank's
  // own data, the result is the same. The first read that differs does not depend on which other
  // ranks are in place, so one pass serves all subsets of ranks.
  void find_clobbered(int32_t rank, int32_t block) {
    if (!has_data(plan_.collective) || one_buffer(plan_.collective)) return;
    const int32_t alias = definition_.alias(rank, block);
    if (alias < 0 || !definition_.has_out(rank)) return;
    const Value* value = cell(rank, Buffer::out, alias).value;
    if (value != nullptr && !is_leaf(*value, rank, block)) in_place_ = false;
  }

  void execute(const Transfer& transfer) {
    if (transfer.kind == TransferKind::reduce && !reduces_ && has_data(plan_.collective)) {
      refuse_here(collective_text() + " has no operation to reduce with; use `copy`");
    }
    if (transfer.dst.buffer == Buffer::out && !definition_.has_out(transfer.dst.rank)) {
      refuse_here((rooted(plan_.collective)
                       ? "only the root, rank " + std::to_string(plan_.root) + ", has an `out` in "
                       : "rank " + std::to_string(transfer.dst.rank) + " has no `out` in ") +
                  collective_text() + "; use `tmp`");
    }
    arrival_ |= reduces_ && transfer.any_order;
    for (int32_t k = 0; k < transfer.dst.count; ++k) {
      const Value* value = transfer.kind == TransferKind::copy ? read(transfer.src.front(), k)
                                                               : combine(transfer, k);
      const int32_t block = transfer.dst.first + k * transfer.dst.stride;
      // This is wrong even if the block is overwritten later: blocks differ in length, and a
      // transfer moves the length of its place in `out`.
      if (transfer.dst.buffer == Buffer::out &&
          value->item != definition_.item_out(transfer.dst.rank, block)) {
        const int64_t belongs = definition_.item_out(transfer.dst.rank, block);
        const std::string place = parted(plan_.collective)
                                      ? item_text(belongs)
                                      : "block " + std::to_string(belongs) + " of `out`";
        refuse_here("it writes " + item_text(value->item) + " where " + place +
                    " belongs; use `tmp` for data on its way");
      }
      cell(transfer.dst.rank, transfer.dst.buffer, block) = {value, index_};
    }
  }

  const Value* combine(const Transfer& transfer, int32_t k) {
    sources_.clear();
    for (const Region& source : transfer.src) sources_.push_back(read(source, k));
    const Value& first = *sources_.front();
    // No two reduces in the order of arrival have the same expression.
    const uint64_t seed =
        transfer.any_order ? mix(index_ + 1) + static_cast<uint64_t>(k) : 0x243f6a8885a308d3u;
    uint64_t expression = seed;
    for (const Value* source : sources_) {
      expression = mix(expression * 0x9e3779b97f4a7c15u + source->expression);
      if (source->item != first.item) {
        refuse_here("it combines " + item_text(first.item) + " with " + item_text(source->item) +
                    "; combine the same block of every rank");
      }
    }
    bool ordered = true;
    for (size_t i = 0; i < sources_.size(); ++i) {
      ordered &= sources_[i]->ordered &&
                 (i == 0 || sources_[i - 1]->leaves.back().high == sources_[i]->leaves.front().low);
    }
    if (ordered) {
      const Interval joined{first.leaves.front().low, sources_.back()->leaves.back().high};
      return keep({expression, first.item, !transfer.any_order, joined});
    }
    Intervals leaves = united();
    if (reduces_ && !plan_.commutative) refuse_order();
    return keep({expression, first.item, false, std::move(leaves)});
  }

  // The leaves of all sources together. A reduction combines each leaf once; in a barrier, several
  // sources may contain the same arrival.
  Intervals united() {
    Intervals all;
    for (const Value* source : sources_) {
      const auto leaves = source->leaves.all();
      all.insert(all.end(), leaves.begin(), leaves.end());
    }
    pieces_ += all.size();
    if (pieces_ > max_pieces) {
      refuse_here("until here partial results are in more than " + std::to_string(max_pieces) +
                  " pieces; combine neighbours in rank order");
    }
    std::sort(all.begin(), all.end(),
              [](const Interval& one, const Interval& other) { return one.low < other.low; });
    Intervals result;
    for (const Interval& interval : all) {
      if (result.empty() || interval.low > result.back().high) {
        result.push_back(interval);
        continue;
      }
      Interval& last = result.back();
      if (reduces_ && interval.low < last.high) {
        refuse_here("it combines the data of " +
                    ranks_text({interval.low, std::min(last.high, interval.high)}) +
                    " twice; each rank's data goes in once");
      }
      last.high = std::max(last.high, interval.high);
    }
    return result;
  }

  [[noreturn]] void refuse_order() const {
    for (size_t i = 1; i < sources_.size(); ++i) {
      const Interval& before = sources_[i - 1]->leaves.back();
      const Interval& after = sources_[i]->leaves.front();
      if (before.high != after.low) {
        refuse_here("rank order is lost: " + ranks_text(after) + " after " + ranks_text(before) +
                    "; combine neighbours in rank order, or say 'commutative yes'");
      }
    }
    throw Error(Code::internal, "a reduce is out of order, but all of its sources are neighbours");
  }

  Verdict verdict() {
    Verdict verdict{true, true, in_place_, arrival_};
    for (int32_t block = 0; block < definition_.out_blocks(); ++block) {
      const Value* first = nullptr;
      for (int32_t rank = 0; rank < plan_.ranks; ++rank) {
        if (!definition_.has_out(rank)) continue;
        const Value* value = result(rank, block);
        if (value == nullptr || !reduces_) continue;
        verdict.rank_order &= value->ordered;
        // Only in an allreduce do several ranks get the same result.
        if (parted(plan_.collective) || !combines_all(plan_.collective)) continue;
        if (first == nullptr) first = value;
        verdict.uniform &= value->expression == first->expression;
      }
    }
    return verdict;
  }

  // The value of a right result; null if it is the root's own data in a bcast.
  const Value* result(int32_t rank, int32_t block) {
    const Cell& at = cell(rank, Buffer::out, block);
    if (at.value == nullptr && one_buffer(plan_.collective) && rank == plan_.root) return nullptr;
    const RankRange sources = definition_.sources(rank, block);
    const Interval wanted{sources.low, sources.high};
    const bool right = at.value != nullptr && missing(at.value->leaves.all(), wanted).empty() &&
                       at.value->leaves.front().low == wanted.low &&
                       at.value->leaves.back().high == wanted.high;
    if (!right) refuse_result(rank, block, at, wanted);
    return at.value;
  }

  [[noreturn]] void refuse_result(int32_t rank, int32_t block, const Cell& at,
                                  const Interval& wanted) const {
    std::string text =
        "block " + std::to_string(block) + " of out[" + std::to_string(rank) + "] holds ";
    text += at.value == nullptr ? "nothing" : "ranks " + set_text(at.value->leaves.all());
    text += "; the " + std::string(name(plan_.collective)) + " needs " + range_text(wanted);
    if (at.writer == no_transfer) {
      text += "; no transfer writes it";
    } else {
      text += "; last written at " + place(plan_, at.writer) + " by '" +
              shortened(plan_.transfers[at.writer]) + "'";
    }
    if (at.value != nullptr) {
      const Intervals lacking = missing(at.value->leaves.all(), wanted);
      text += lacking.empty() ? ", which has more" : ", without " + set_text(lacking);
    }
    throw Error(Code::invalid_plan, text);
  }

  const Plan& plan_;
  const Definition definition_;
  const bool reduces_;
  size_t index_ = 0;
  bool in_place_ = true;
  size_t pieces_ = 0;
  bool arrival_ = false;
  BlockTable<Cell> cells_;
  std::deque<Value> values_;  // stays in place as it grows
  std::vector<const Value*> sources_;
};

}  // namespace

Verdict check(const Plan& plan) {
  if (const int64_t moved = moves(plan); moved > max_moves) {
    throw Error(Code::invalid_plan, "the plan moves " + std::to_string(moved) +
                                        " blocks, more than the " + std::to_string(max_moves) +
                                        " that are checked; use fewer, larger blocks");
  }
  return Checker(plan).run();
}

}  // namespace tutti::plan
