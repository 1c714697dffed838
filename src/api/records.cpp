#include "api/records.h"

#include <cstring>

#include "api/scratch.h"
#include "base/line.h"

namespace tutti::api {
namespace {

constexpr size_t word = sizeof(uint64_t);

}  // namespace

size_t Records::bytes_for(const tutti_user_op& op) {
  return op.neutral != nullptr ? op.element_bytes : round_up(op.element_bytes + 1, word);
}

size_t Records::aside_for(const tutti_user_op& op) {
  return 3 * round_up(op.element_bytes, Scratch::alignment);
}

Records::Records(const tutti_user_op& op, std::byte* aside)
    : op_(op),
      bytes_(bytes_for(op)),
      left_(aside),
      right_(aside + aside_for(op) / 3),
      total_(aside + 2 * (aside_for(op) / 3)) {}

exec::Combine Records::combine() {
  exec::Combine combine;
  combine.apply = [](void* context, const void* in, void* inout, size_t count) {
    auto* const records = static_cast<Records*>(context);
    const auto* from = static_cast<const std::byte*>(in);
    auto* to = static_cast<std::byte*>(inout);
    for (size_t i = 0; i < count; ++i)
      records->combine_one(from + i * records->bytes_, to + i * records->bytes_);
  };
  combine.context = this;
  combine.element = bytes_;
  combine.commutative = op_.commutes != 0;
  combine.needs = op_.commutes != 0 ? exec::needs_same_expression : exec::needs_rank_order;
  return combine;
}

void Records::combine_one(const std::byte* in, std::byte* inout) {
  if (!has_element(in)) return;
  if (!has_element(inout)) {
    std::memcpy(inout, in, bytes_);
    return;
  }
  std::memcpy(left_, in, op_.element_bytes);
  std::memcpy(right_, inout, op_.element_bytes);
  op_.fold(left_, right_, 1, op_.context);
  std::memcpy(inout, left_, op_.element_bytes);
}

void Records::fold(std::byte* record, const std::byte* elements, size_t count) {
  if (op_.neutral == nullptr) {
    std::memset(record, 0, bytes_);
    record[bytes_ - 1] = static_cast<std::byte>(count > 0);
  }
  if (count == 0) {
    if (op_.neutral != nullptr) std::memcpy(record, op_.neutral, op_.element_bytes);
    return;
  }
  std::memcpy(left_, elements, op_.element_bytes);
  if (count > 1) op_.fold(left_, elements + op_.element_bytes, count - 1, op_.context);
  std::memcpy(record, left_, op_.element_bytes);
}

void Records::append(const std::byte* record) {
  if (!has_element(record)) return;
  if (has_total_) {
    std::memcpy(right_, record, op_.element_bytes);
    op_.fold(total_, right_, 1, op_.context);
  } else {
    std::memcpy(total_, record, op_.element_bytes);
    has_total_ = true;
  }
}

}  // namespace tutti::api
