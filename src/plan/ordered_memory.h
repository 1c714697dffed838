// A simulated memory that records which accesses are ordered, by vector clocks over the ranks.
// Internal to src/plan.
//
// Every action of a rank has a time by that rank's own count. A rank's clock holds, for every rank,
// the time of the last action of that rank that is ordered before the present. A release keeps a
// snapshot of the clock with the value. A wait joins the snapshot of the oldest value that
// satisfies it, because a real wait may have seen that value. So two accesses count as ordered only
// if they are ordered in every execution. One owner, one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace tutti::plan {

using Clock = std::vector<uint32_t>;  // indexed by rank

struct Access {
  int32_t rank = -1;
  uint32_t time = 0;
  int32_t step = -1;  // the step's number in the rank's program, for messages
  int32_t segment = 0;
  int32_t operation = 0;

  bool ordered_before(const Clock& clock) const { return rank < 0 || time <= clock[rank]; }
};

// The contents of a block: the hash of an expression, and the item that it is (Definition).
struct Symbol {
  uint64_t expression = 0;  // 0: nothing
  int32_t item = -1;
};

// One block of memory. `read` and `write` return the earlier access with which this one races, if
// any.
class OrderedCell {
 public:
  std::optional<Access> read(const Access& access, const Clock& clock) {
    if (!write_.ordered_before(clock)) return write_;
    for (Access& earlier : reads_) {
      if (earlier.rank == access.rank) {
        earlier = access;
        return std::nullopt;
      }
    }
    reads_.push_back(access);
    return std::nullopt;
  }

  std::optional<Access> write(const Access& access, const Clock& clock, Symbol symbol) {
    if (!write_.ordered_before(clock)) return write_;
    for (const Access& earlier : reads_) {
      if (!earlier.ordered_before(clock)) return earlier;
    }
    write_ = access;
    reads_.clear();
    symbol_ = symbol;
    return std::nullopt;
  }

  Symbol symbol() const { return symbol_; }
  void hold(Symbol symbol) { symbol_ = symbol; }

 private:
  Symbol symbol_;
  Access write_;
  std::vector<Access> reads_;  // the last of each rank since the last write
};

// A word that one rank releases with growing values, and for which others wait.
class ReleasedWord {
 public:
  bool release(int64_t value, const Clock& clock) {
    if (!history_.empty() && history_.back().value >= value) return false;
    history_.push_back({value, clock});
    return true;
  }

  struct Release {
    int64_t value;
    Clock clock;
  };

  // The oldest release of at least this value; null while there is none.
  const Release* reached(int64_t value) const {
    auto found =
        std::partition_point(history_.begin(), history_.end(),
                             [value](const Release& release) { return release.value < value; });
    return found == history_.end() ? nullptr : &*found;
  }

  int64_t value() const { return history_.empty() ? 0 : history_.back().value; }

 private:
  std::vector<Release> history_;
};

inline void join(Clock& clock, const Clock& other) {
  for (size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

}  // namespace tutti::plan
