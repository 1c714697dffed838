#include "plan/check.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "base/error.h"
#include "plan/fault.h"
#include "plan/text.h"

namespace tutti::plan {
namespace {

// Blocks read and written by a whole plan. A text of few lines can name 2^20 blocks in each; this bounds the time.
constexpr int64_t max_moves = int64_t{1} << 28;
// Likewise for partial results in many pieces, in plans that commute: the intervals of ranks in all of them together.
constexpr size_t max_pieces = size_t{1} << 25;

struct Interval {
  int32_t low, high;  // ranks [low, high)
};

// What a block holds: leaves of one block of the vector (for a barrier: arrivals). Never changed once made, and shared
// by all blocks that it was copied to.
struct Value {
  uint64_t expression;           // hash: equal for equal expressions
  int32_t block;
  bool ordered;                  // made by joining neighbours in rank order: then `leaves` is one interval
  std::vector<Interval> leaves;  // ascending, with gaps between
};

struct Cell {
  const Value* value;
  size_t writer;  // the transfer
};

uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

struct KeyHash {
  size_t operator()(uint64_t key) const { return mix(key + 0x9e3779b97f4a7c15u); }
};

std::string ranks_text(const Interval& interval) {
  if (interval.high == interval.low + 1) return "rank " + std::to_string(interval.low);
  return "ranks " + std::to_string(interval.low) + ".." + std::to_string(interval.high - 1);
}

// Executes one plan on symbols.
class Checker {
 public:
  explicit Checker(const Plan& plan)
      : plan_(plan), reduces_(plan.collective == Collective::reduce || plan.collective == Collective::allreduce) {}

  Verdict run() {
    int64_t moves = 0;
    for (const Transfer& transfer : plan_.transfers) {
      moves += transfer.dst.count * static_cast<int64_t>(transfer.src.size() + 1);
    }
    if (moves > max_moves) {
      throw Error(Code::invalid_plan, "the plan moves " + std::to_string(moves) + " blocks, more than the " +
                                          std::to_string(max_moves) + " that are checked; use fewer, larger blocks");
    }
    cells_.reserve(static_cast<size_t>(std::min<int64_t>(moves, 1 << 22)));
    for (index_ = 0; index_ < plan_.transfers.size(); ++index_) execute(plan_.transfers[index_]);
    return verdict();
  }

 private:
  [[noreturn]] void refuse_here(const std::string& message) const { refuse_at(index_, message); }

  [[noreturn]] void refuse_at(size_t transfer, const std::string& message) const {
    refuse(place(plan_, transfer), shortened(plan_.transfers[transfer]) + ": " + message);
  }

  // The root of a bcast has one buffer, its `in` and `out`.
  uint64_t key(int32_t rank, Buffer buffer, int32_t block) const {
    if (plan_.collective == Collective::bcast && rank == plan_.root && buffer == Buffer::out) buffer = Buffer::in;
    return ((uint64_t{static_cast<uint32_t>(rank)} * 3 + static_cast<uint64_t>(buffer)) << 20) |
           static_cast<uint32_t>(block);
  }

  bool collective_defines(Buffer buffer, int32_t rank) const {
    if (buffer == Buffer::in) return plan_.collective != Collective::bcast || rank == plan_.root;
    return plan_.collective != Collective::reduce || rank == plan_.root;
  }

  static std::string block_text(const Region& region, int32_t block) {
    return print(Region{region.rank, region.buffer, block, 1, 1});
  }

  const Value* keep(Value value) {
    values_.push_back(std::move(value));
    return &values_.back();
  }

  static bool is_leaf(const Value& value, int32_t rank, int32_t block) {
    return value.block == block && value.leaves.size() == 1 && value.leaves.front().low == rank &&
           value.leaves.front().high == rank + 1;
  }

  const Value* read(const Region& region, int32_t k) {
    const int32_t block = region.first + k * region.stride;
    auto cell = cells_.find(key(region.rank, region.buffer, block));
    if (region.buffer == Buffer::in && in_place_) find_clobbered(region.rank, block);
    if (cell != cells_.end()) return cell->second.value;
    if (region.buffer != Buffer::tmp && plan_.collective == Collective::bcast && region.rank == plan_.root) {
      return leaf(region.rank, block);
    }
    if (region.buffer == Buffer::in && collective_defines(Buffer::in, region.rank)) return leaf(region.rank, block);
    refuse_here(region.buffer == Buffer::in
                    ? print(region) + " holds nothing: only the root of a bcast has an `in`; read `out` or `tmp`"
                    : "it reads " + block_text(region, block) + ", which nobody wrote; write it in a line before");
  }

  const Value* leaf(int32_t rank, int32_t block) {
    const uint64_t at = key(rank, Buffer::in, block);
    const Value* value = keep({mix(mix(static_cast<uint32_t>(rank) + 1) + static_cast<uint32_t>(block)), block, true,
                               {{rank, rank + 1}}});
    cells_[at] = {value, no_transfer};
    return value;
  }

  // In place, `in` shows what is in `out` by now. Where that is still the rank's own data, nothing differs; the first
  // read that does differ is the same whatever other ranks do, so one pass serves all subsets of ranks.
  void find_clobbered(int32_t rank, int32_t block) {
    if (!reduces_ || !collective_defines(Buffer::out, rank)) return;
    auto out = cells_.find(key(rank, Buffer::out, block));
    if (out != cells_.end() && !is_leaf(*out->second.value, rank, block)) in_place_ = false;
  }

  void execute(const Transfer& transfer) {
    if (transfer.kind == TransferKind::reduce && plan_.collective == Collective::bcast) {
      refuse_here("a bcast has no operation to reduce with; use `copy`");
    }
    if (transfer.dst.buffer == Buffer::out && !collective_defines(Buffer::out, transfer.dst.rank)) {
      refuse_here("only the root, rank " + std::to_string(plan_.root) + ", has an `out` in a reduce; use `tmp`");
    }
    find_shifted(transfer);
    for (int32_t k = 0; k < transfer.dst.count; ++k) {
      const Value* value = transfer.kind == TransferKind::copy ? read(transfer.src.front(), k) : combine(transfer, k);
      const int32_t block = transfer.dst.first + k * transfer.dst.stride;
      cells_[key(transfer.dst.rank, transfer.dst.buffer, block)] = {value, index_};
    }
  }

  // A transfer moves its blocks at once: one that reads `in` beside the place where it writes `out` cannot be in place.
  void find_shifted(const Transfer& transfer) {
    if (!reduces_ || !in_place_ || transfer.dst.buffer != Buffer::out) return;
    for (Region source : transfer.src) {
      if (source.buffer != Buffer::in) continue;
      source.buffer = Buffer::out;
      const bool own_place = source.first == transfer.dst.first &&
                             (source.count == 1 || source.stride == transfer.dst.stride);
      if (!own_place && overlap(source, transfer.dst)) in_place_ = false;
    }
  }

  const Value* combine(const Transfer& transfer, int32_t k) {
    sources_.clear();
    for (const Region& source : transfer.src) sources_.push_back(read(source, k));
    const Value& first = *sources_.front();
    Value result{0x243f6a8885a308d3u, first.block, true, {}};
    for (const Value* source : sources_) {
      result.expression = mix(result.expression * 0x9e3779b97f4a7c15u + source->expression);
      if (source->block != first.block) {
        refuse_here("it combines block " + std::to_string(first.block) + " with block " +
                    std::to_string(source->block) + " of the vector; combine the same block of every rank");
      }
    }
    for (size_t i = 0; i < sources_.size(); ++i) {
      result.ordered &= sources_[i]->ordered &&
                        (i == 0 || sources_[i - 1]->leaves.back().high == sources_[i]->leaves.front().low);
    }
    if (result.ordered) {
      result.leaves = {{first.leaves.front().low, sources_.back()->leaves.back().high}};
    } else {
      result.leaves = united();
      if (reduces_ && !plan_.commutative) refuse_order();
    }
    return keep(std::move(result));
  }

  // The leaves of all sources. In a reduction each goes in once; that a barrier hears of an arrival twice is no harm.
  std::vector<Interval> united() {
    std::vector<Interval> all;
    for (const Value* source : sources_) all.insert(all.end(), source->leaves.begin(), source->leaves.end());
    pieces_ += all.size();
    if (pieces_ > max_pieces) {
      refuse_here("until here partial results are in more than " + std::to_string(max_pieces) +
                  " pieces; combine neighbours in rank order");
    }
    std::sort(all.begin(), all.end(), [](const Interval& one, const Interval& other) { return one.low < other.low; });
    std::vector<Interval> result;
    for (const Interval& interval : all) {
      if (result.empty() || interval.low > result.back().high) {
        result.push_back(interval);
        continue;
      }
      Interval& last = result.back();
      if (reduces_ && interval.low < last.high) {
        refuse_here("it combines the data of " + ranks_text({interval.low, std::min(last.high, interval.high)}) +
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
    Verdict verdict{true, true, in_place_};
    for (int32_t block = 0; block < plan_.blocks; ++block) {
      const Value* first = nullptr;
      for (int32_t rank = 0; rank < plan_.ranks; ++rank) {
        if (!collective_defines(Buffer::out, rank)) continue;
        const Value* value = result(rank, block);
        if (value == nullptr) continue;
        if (first == nullptr) first = value;
        if (!reduces_) continue;
        verdict.rank_order &= value->ordered;
        verdict.uniform &= value->expression == first->expression;
      }
    }
    return verdict;
  }

  // The value of a right result; null where it is the data that the root of a bcast had from the start.
  const Value* result(int32_t rank, int32_t block) const {
    const Region where = out(rank, block);
    const auto found = cells_.find(key(rank, Buffer::out, block));
    const bool has_data = plan_.collective == Collective::bcast && rank == plan_.root;
    if (found == cells_.end()) {
      if (has_data) return nullptr;
      throw Error(Code::invalid_plan, "the plan ends without a transfer to " + print(where) + "; " +
                                          std::string(name(plan_.collective)) + " needs one");
    }
    const auto& [value, writer] = found->second;
    if (writer == no_transfer) return value;
    if (value->block != block) {
      refuse_at(writer, "at the end " + print(where) + " holds block " + std::to_string(value->block) +
                            " of the vector; it must hold block " + std::to_string(block));
    }
    const Interval wanted = plan_.collective == Collective::bcast ? Interval{plan_.root, plan_.root + 1}
                                                                  : Interval{0, plan_.ranks};
    const Interval& held = value->leaves.front();
    if (held.low <= wanted.low && held.high >= wanted.high) return value;
    const int32_t missing = held.low > wanted.low ? wanted.low : held.high;
    refuse_at(writer, "at the end " + print(where) + " lacks the " +
                          (reduces_ || plan_.collective == Collective::bcast ? "data" : "arrival") + " of rank " +
                          std::to_string(missing) + "; combine it in before");
  }

  static constexpr size_t no_transfer = SIZE_MAX;

  const Plan& plan_;
  const bool reduces_;
  size_t index_ = 0;
  bool in_place_ = true;
  size_t pieces_ = 0;
  std::unordered_map<uint64_t, Cell, KeyHash> cells_;
  std::deque<Value> values_;  // stays in place as it grows
  std::vector<const Value*> sources_;
};

}  // namespace

Verdict check(const Plan& plan) { return Checker(plan).run(); }

}  // namespace tutti::plan
