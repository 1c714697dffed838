// Hand-overs in lines, and the end of an operation: what the executor's loop and the exchange
// share. Internal to src/exec.
#pragma once

#include "exec/executor.h"

namespace tutti::exec {

// Behind the payload: tells who waits for the line.
template <bool yielding>
[[gnu::always_inline]] inline void Channel::post(shm::Line& line, uint64_t number, uint64_t call) {
  shm::store_relaxed(line.call, call);
  shm::publish(line.stamp, number);
  if constexpr (yielding) wake_sleepers(*own_);
}

[[gnu::always_inline]] inline Code Channel::expect(const shm::Line& line, uint64_t number,
                                                   int32_t peer, const Operation& operation) {
  if (shm::observe(line.stamp) != number) [[unlikely]] {
    if (const Code code = wait_for_line(line, number, peer, operation); code != Code::ok)
      return code;
  }
  if (shm::load_relaxed(line.call) != operation.call) [[unlikely]]
    return fail_mismatch(peer, operation);
  return Code::ok;
}

// `next` is the base of the operation after this one.
template <bool yielding>
[[gnu::always_inline]] inline void Channel::end(uint64_t next) {
  base_ = next;
  shm::publish(own_->word, next);
  if constexpr (yielding) wake_sleepers(*own_);
}

}  // namespace tutti::exec
