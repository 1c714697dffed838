// Programs that are one exchange of lines (bound.h: Exchange). They are found when a program is
// bound, and run without a loop over steps. Internal to src/exec.
//
// They are the frequent short calls of two ranks. Binding knows all addresses and numbers except
// the ring's position, so a call takes about half the instructions that the loop takes for the same
// three steps. The exchange waits, calls the hook and notices mismatched calls as the loop does. If
// steps are recorded, the loop runs instead.
#pragma once

#include "exec/combine.h"
#include "exec/lines.h"
#include "kernels/kernels.h"

namespace tutti::exec {

// The exchange that the steps of a bound program of lines are; without a peer if they are none.
Exchange find_exchange(const BoundProgram& bound, const plan::Program& program);

template <bool yielding, bool combines>
Code Channel::run_exchange(Channel& channel, const Start& start, const Operation& operation) {
  const Exchange& exchange = start.exchange;
  Ring& ring = channel.lines_;
  shm::store_relaxed(channel.own_->call, operation.call);
  if (ring.cursor + start.lines > ring.limit) [[unlikely]] {
    if (const Code code = channel.make_room(ring, start.lines, true, operation); code != Code::ok)
      return code;
  }
  std::byte* const lines = channel.first_line_ + ring.position() * shm::line_size;
  auto& own = *reinterpret_cast<shm::Line*>(lines + exchange.own_line * shm::line_size);
  if constexpr (combines) kernels::copy(own.payload, operation.in, operation.bytes);
  channel.post<yielding>(own, channel.base_ + exchange.posted, operation.call);
  const auto& theirs =
      *reinterpret_cast<const shm::Line*>(lines + exchange.their_line * shm::line_size);
  if (const Code code =
          channel.expect(theirs, channel.base_ + exchange.awaited, exchange.peer, operation);
      code != Code::ok) {
    return code;
  }
  if constexpr (combines) {
    const void* const first = exchange.theirs_first ? theirs.payload : operation.in;
    const void* const second = exchange.theirs_first ? operation.in : theirs.payload;
    if (const kernels::Reduce kernel = operation.combine->kernel; kernel != nullptr) [[likely]] {
      kernel(operation.out, first, second, operation.count);
    } else {
      const void* const sources[] = {first, second};
      combine(*operation.combine, operation.out, sources, 2, operation.bytes);
    }
  }
  ring.safe =
      ring.cursor;  // the other has entered this operation, so it has ended all earlier ones
  ring.cursor += start.lines;
  channel.end<yielding>(channel.base_ + start.span);
  return Code::ok;
}

}  // namespace tutti::exec
