// A value for every block that a plan names, dense by rank: what lowering knows of each block as it walks the plan.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace tutti::plan {

template <class Value>
class BlockTable {
 public:
  enum class Aliasing : uint8_t {
    none,
    user_buffers_are_one,  // `in` and `out` of a rank share their blocks: right for ranks that pass one buffer
  };

  BlockTable(const Plan& plan, Aliasing aliasing)
      : blocks_(std::max(plan.blocks, 1)), user_is_one_(aliasing == Aliasing::user_buffers_are_one) {
    start_.reserve(static_cast<size_t>(plan.ranks) + 1);
    std::vector<int32_t> tmp(plan.ranks, 0);
    auto note = [&](const Region& r) {
      if (r.buffer == Buffer::tmp) tmp[r.rank] = std::max(tmp[r.rank], r.last() + 1);
    };
    for (const Transfer& transfer : plan.transfers) {
      note(transfer.dst);
      for (const Region& src : transfer.src) note(src);
    }
    size_t at = 0;
    for (int32_t rank = 0; rank < plan.ranks; ++rank) {
      start_.push_back(at);
      at += 2 * static_cast<size_t>(blocks_) + static_cast<size_t>(tmp[rank]);
    }
    values_.resize(at);
  }

  Value& at(int32_t rank, Buffer buffer, int32_t block) {
    size_t offset = static_cast<size_t>(block);
    if (buffer == Buffer::tmp) {
      offset += 2 * static_cast<size_t>(blocks_);
    } else if (buffer == Buffer::out && !user_is_one_) {
      offset += static_cast<size_t>(blocks_);
    }
    return values_[start_[rank] + offset];
  }

  template <class Visit>
  void each(const Region& region, Visit visit) {
    for (int32_t i = 0; i < region.count; ++i) visit(at(region.rank, region.buffer, region.first + i * region.stride));
  }

 private:
  int32_t blocks_;
  bool user_is_one_;
  std::vector<size_t> start_;
  std::vector<Value> values_;
};

}  // namespace tutti::plan
