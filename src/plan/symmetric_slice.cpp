// A rank's slice of a symmetric plan.
#include <algorithm>
#include <utility>

#include "plan/circle.h"
#include "plan/elidable_copies.h"
#include "plan/facts.h"
#include "plan/lists.h"
#include "plan/symmetric.h"

namespace tutti::plan {
namespace {

// Finds for the patterns what Slicer finds for all transfers, and then the few of all transfers
// that belong to the slice.
class PatternSlicer {
 public:
  PatternSlicer(const Symmetric& staged, int32_t rank)
      : staged_(staged),
        patterns_(staged.plan.transfers),
        circle_(staged.plan),
        own_(static_cast<int32_t>(std::find(staged.order.begin(), staged.order.end(), rank) -
                                  staged.order.begin())),
        held_(static_cast<size_t>(staged.plan.largest_tmp())),
        writers_(circle_.orbits(staged.plan.largest_tmp())),
        found_(patterns_.size()) {
    slice_.rank = rank;
    slice_.transfers = count() * staged.plan.ranks;
    slice_.stages = patterns_.empty() ? 1 : patterns_.back().stage + 1;
    slice_.plan = without_transfers(staged_.plan);
  }

  Slice run() {
    for (int32_t i = 0; i < count(); ++i) chains_.add(writers_[circle_.orbit(patterns_[i].dst)], i);
    for (int32_t i = 0; i < count(); ++i) survey(i);
    slice_.any_elidable =
        std::any_of(found_.begin(), found_.end(), [](const Found& found) { return found.is_read; });
    std::sort(numbers_.begin(), numbers_.end());
    numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
    for (const int32_t number : numbers_) take(number);
    return std::move(slice_);
  }

 private:
  // The contents of a block of tmp.
  struct Held {
    int32_t rank = 0;  // the block's, where the pattern that wrote it is at place 0
    Region origin;     // a block of a user's buffer that is the same item, for the same place
    int32_t first_stage = -1;  // the stage of its first write
    int32_t copy = -1;         // the copy that wrote it, if that could be left out
  };
  struct Found {  // facts about a pattern
    int32_t line = -1;
    Region origin;  // as Held::origin
    // A rank beside the owner that reads through a copy that could be left out: its distance from
    // the owner.
    int32_t reader = -1;
    bool is_read = false, read_by_several = false;
  };

  int32_t count() const { return static_cast<int32_t>(patterns_.size()); }

  // How far the pattern is moved on where this rank executes it.
  int32_t own_place(const Transfer& pattern) const {
    return circle_.place(own_ - pattern.dst.rank);
  }

  // The transfer of pattern `i` at a place belongs to the slice.
  void add(int32_t i, int32_t place) {
    numbers_.push_back(i * staged_.plan.ranks + circle_.place(place));
  }

  // All writes of the block that the region is where it is moved on.
  void add_writers(const Region& region, int32_t by) {
    chains_.each(writers_[circle_.orbit(region)], [&](int32_t writer) {
      add(writer, by + region.rank - patterns_[writer].dst.rank);
    });
  }

  void survey(int32_t i) {
    const Transfer& pattern = patterns_[i];
    const int32_t place = own_place(pattern);
    add(i, place);
    for (const Region& src : pattern.src) {
      add(i, own_ - src.rank);
      if (src.rank != pattern.dst.rank) add_writers(src, place);
      if (src.buffer == Buffer::tmp) note_read(src, i);
    }
    if (pattern.dst.buffer == Buffer::tmp) note_written(i);
  }

  void touch(const Region& region, const Held& held, int32_t stage) {
    slice_.slot_blocks = std::max(slice_.slot_blocks, region.first + 1);
    if (held.first_stage >= 0)
      slice_.min_positions = std::max(slice_.min_positions, stage - held.first_stage + 1);
  }

  void note_read(const Region& src, int32_t reader) {
    const Transfer& pattern = patterns_[reader];
    const Held& held = held_[static_cast<size_t>(src.first)];
    touch(src, held, pattern.stage);
    if (held.copy < 0) return;
    Found& copy = found_[held.copy];
    copy.is_read = true;
    const int32_t distance = circle_.place(pattern.dst.rank - src.rank);
    if (distance == 0) return;
    copy.read_by_several |= copy.reader >= 0 && copy.reader != distance;
    copy.reader = distance;
    // The writes of the copied block decide whether the copy may be left out.
    add_writers(patterns_[held.copy].src.front(), own_place(pattern) + src.rank - held.rank);
  }

  void note_written(int32_t i) {
    const Transfer& pattern = patterns_[i];
    Held& held = held_[static_cast<size_t>(pattern.dst.first)];
    found_[i].origin = origin_of(pattern.src.front());
    found_[i].line = slice_.most_lines++;
    touch(pattern.dst, held, pattern.stage);
    held = {pattern.dst.rank, found_[i].origin,
            held.first_stage < 0 ? pattern.stage : held.first_stage,
            could_offer(staged_.plan, pattern) ? i : -1};
  }

  Region origin_of(const Region& region) const {
    if (region.buffer != Buffer::tmp) return region;
    const Held& held = held_[static_cast<size_t>(region.first)];
    return circle_.moved(held.origin, region.rank - held.rank);
  }

  Region at(const Region& region, int32_t place) const {
    return circle_.of_ranks(circle_.moved(region, place), staged_.order);
  }

  void take(int32_t number) {
    const int32_t i = number / staged_.plan.ranks, place = number % staged_.plan.ranks;
    const Transfer& pattern = patterns_[i];
    const Found& found = found_[i];
    Transfer& taken = slice_.plan.transfers.emplace_back(pattern);
    taken.dst = at(pattern.dst, place);
    take_sources(taken, pattern.src, place);
    slice_.numbers.push_back(number + 1);
    slice_.lines.push_back(found.line);
    if (found.line >= 0) {
      const Region origin = at(found.origin, place);
      slice_.extents.add(item_of(staged_.plan, origin, origin.first));
    }
    slice_.extents.end_list();
    slice_.needed.push_back(false);
    slice_.read_by_several.push_back(found.read_by_several);
  }

  // A reduce of another rank keeps only the sources that this rank writes, or else its first one.
  void take_sources(Transfer& taken, const Sources& sources, int32_t place) const {
    const bool is_own = taken.dst.rank == slice_.rank || taken.kind != TransferKind::reduce;
    taken.src.clear();
    for (const Region& src : sources) {
      if (is_own || circle_.place(src.rank + place) == own_) taken.src.push_back(at(src, place));
    }
    if (taken.src.empty()) taken.src.push_back(at(sources.front(), place));
    if (staged_.sources_by_rank) sort_by_rank(taken.src);
  }

  const Symmetric& staged_;
  const LargeVector<Transfer>& patterns_;
  const Circle circle_;
  const int32_t own_;  // the place of this rank
  Slice slice_;
  LargeVector<Held> held_;  // indexed by block of tmp
  Chains chains_;
  LargeVector<Chains::Head> writers_;  // indexed by orbit: the patterns that write it
  LargeVector<Found> found_;           // indexed by pattern
  LargeVector<int32_t> numbers_;       // those of the slice's transfers, from 0
};

}  // namespace

Slice slice(const Symmetric& staged, int32_t rank) { return PatternSlicer(staged, rank).run(); }

}  // namespace tutti::plan
