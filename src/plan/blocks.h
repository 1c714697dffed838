// A table with a value for every block that a plan names. The check, staging and lowering keep
// facts about each block in it while they walk over the plan.
//
// The table is an array, which is fast, unless the plan names only a few of the blocks up to its
// largest. Then it is a hash table: a root that gathers parts names few of all ranks' parts, and a
// short text may have large numbers. One walk owns it; one thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/large_vector.h"
#include "plan/lower.h"
#include "plan/plan.h"

namespace tutti::plan {

// How many blocks a plan names, for the sizes of its tables.
struct NamedBlocks {
  explicit NamedBlocks(const Plan& plan) : tmp(static_cast<size_t>(plan.ranks), 0) {
    const auto note = [this](const Region& region) {
      all += static_cast<size_t>(region.count);
      if (region.buffer == Buffer::tmp)
        tmp[region.rank] = std::max(tmp[region.rank], region.last() + 1);
    };
    for (const Transfer& transfer : plan.transfers) {
      note(transfer.dst);
      for (const Region& src : transfer.src) note(src);
    }
  }

  std::vector<int32_t> tmp;  // indexed by rank: one more than the largest
  size_t all = 0;            // as often as they are named
};

template <class Value>
class BlockTable {
 public:
  enum class Aliasing : uint8_t {
    none,
    // `in` and `out` of a rank share their values, as if the rank passed one buffer.
    user_buffers_are_one,
    // A block of `in` shares its value with the block of `out` that is the same memory in a call in
    // place (Definition::alias).
    in_place,
    tmp_alone,  // only blocks of tmp have values
  };

  BlockTable(const Plan& plan, Aliasing aliasing) : BlockTable(plan, aliasing, NamedBlocks(plan)) {}
  BlockTable(const Plan& plan, Aliasing aliasing, const NamedBlocks& named)
      : definition_(plan.definition()),
        blocks_(aliasing == Aliasing::tmp_alone ? 0 : std::max(plan.blocks, 1)),
        user_is_one_(aliasing == Aliasing::user_buffers_are_one ||
                     (aliasing == Aliasing::in_place && are_alike(definition_))),
        has_aliases_(aliasing == Aliasing::in_place && !are_alike(definition_)) {
    start_.reserve(static_cast<size_t>(plan.ranks) + 1);
    size_t at = 0;
    for (int32_t rank = 0; rank < plan.ranks; ++rank) {
      start_.push_back(at);
      at += 2 * static_cast<size_t>(blocks_) + static_cast<size_t>(named.tmp[rank]);
    }
    sparse_ = at > always_dense && at / most_unnamed > named.all;
    if (sparse_) {
      at = std::bit_ceil(2 * named.all + run);
      keys_.resize(at, no_key);
    }
    values_.resize(at);
  }

  Value& at(int32_t rank, Buffer buffer, int32_t block) {
    size_t offset = static_cast<size_t>(block);
    if (buffer == Buffer::tmp) {
      offset += 2 * static_cast<size_t>(blocks_);
    } else if (buffer == Buffer::out && !user_is_one_) {
      offset += static_cast<size_t>(blocks_);
    } else if (buffer == Buffer::in && has_aliases_) {
      const int32_t alias = definition_.alias(rank, block);
      if (alias >= 0) offset = static_cast<size_t>(blocks_) + static_cast<size_t>(alias);
    }
    offset += start_[rank];
    return values_[sparse_ ? scattered(offset) : offset];
  }

  template <class Visit>
  void each(const Region& region, Visit visit) {
    for (int32_t i = 0; i < region.count; ++i)
      visit(at(region.rank, region.buffer, region.first + i * region.stride));
  }

 private:
  static constexpr size_t always_dense = 1024;  // blocks
  static constexpr size_t most_unnamed = 4;     // blocks for each one that is named

  static bool are_alike(const Definition& definition) {
    return definition.in_blocks() == definition.out_blocks();
  }

  // Where the value of a block is in a table of at least twice as many as are named.
  size_t scattered(size_t offset) {
    const size_t last = keys_.size() - 1;
    // Blocks of a run are neighbours, because most regions are runs.
    size_t place = (offset / run * 0x9e3779b97f4a7c15u >> 20) * run + offset % run;
    for (size_t tried = 0; tried <= last; ++tried, ++place) {
      size_t& key = keys_[place & last];
      if (key == no_key) key = offset;
      if (key == offset) return place & last;
    }
    throw Error(Code::internal, "a table of blocks is full; this is a fault of lowering");
  }
  static constexpr size_t run = 8;
  static constexpr size_t no_key = SIZE_MAX;

  const Definition definition_;
  int32_t blocks_;
  bool user_is_one_;
  bool has_aliases_;
  bool sparse_ = false;
  std::vector<size_t> start_;
  LargeVector<size_t> keys_;  // indexed by place; empty if the table is an array
  LargeVector<Value> values_;
};

// The aliasing of `in` and `out` for a BlockTable.
template <class Value>
auto aliasing_of(Buffers buffers) {
  using Aliasing = typename BlockTable<Value>::Aliasing;
  return buffers == Buffers::two ? Aliasing::none : Aliasing::user_buffers_are_one;
}

}  // namespace tutti::plan
