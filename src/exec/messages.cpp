#include "exec/messages.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "exec/entered.h"
#include "plan/semantics.h"

namespace tutti::exec {
namespace {

constexpr int eager_tests = 20;
// The tests drive the host already, so the hook is called seldom.
constexpr auto time_between_hooks = std::chrono::microseconds(20);

}  // namespace

Channel::MessageStep::MessageStep(Channel& channel, const BoundProgram& bound,
                                  const BoundStep& step, const Operation& operation,
                                  const MessageSegment& segment)
    : channel_(channel),
      message_(bound.messages[bound.details[step.details].message]),
      pieces_(bound.pieces.data() + message_.first_piece),
      step_(step),
      operation_(operation),
      segment_(segment),
      request_(message_.first_request + static_cast<size_t>(segment.segment) % message_.in_flight) {
}

Channel::MessageStep::Run Channel::MessageStep::run_of(const BoundPiece& piece) const {
  std::byte* const at = segment_.base_of[piece.operand.space] + piece.operand.displacement() +
                        segment_.offsets.of(piece.operand);
  if (segment_.parts) return {at, part_bytes(piece)};
  if (segment_.geometry == nullptr) return {at, segment_.bytes};
  return {at, plan::extent_length(piece.extent_first, piece.extent_count,
                                  segment_.geometry->block_bytes, segment_.bytes)};
}

size_t Channel::MessageStep::part_bytes(const BoundPiece& piece) const {
  const VParts* const v_parts = operation_.v_parts;
  if (v_parts == nullptr) return segment_.bytes;
  size_t length = 0;
  if (v_parts->by_item != nullptr) {
    length = v_parts->by_item[piece.extent_first];
  } else {
    const bool is_in = piece.operand.space == static_cast<uint32_t>(plan::Space::in);
    length = (is_in ? v_parts->in : v_parts->out).bytes[piece.operand.block];
  }
  return plan::part_length(length, segment_.before, segment_.bytes);
}

size_t Channel::MessageStep::find_runs() {
  size_t bytes = 0;
  for (uint32_t i = 0; i < message_.piece_count; ++i) {
    const Run run = run_of(pieces_[i]);
    if (run.bytes == 0) continue;
    if (bytes == 0) whole_ = {run.at, 0};
    if (whole_.at + bytes != run.at) in_one_piece_ = false;
    bytes += run.bytes;
  }
  whole_.bytes = bytes;
  return bytes;
}

void Channel::MessageStep::pack(std::byte* to) const {
  for (uint32_t i = 0; i < message_.piece_count; ++i) {
    const Run run = run_of(pieces_[i]);
    if (run.bytes > 0) std::memcpy(to, run.at, run.bytes);
    to += run.bytes;
  }
}

void Channel::MessageStep::unpack(const std::byte* from) const {
  for (uint32_t i = 0; i < message_.piece_count; ++i) {
    const Run run = run_of(pieces_[i]);
    if (run.bytes > 0) std::memcpy(run.at, from, run.bytes);
    from += run.bytes;
  }
}

Code Channel::MessageStep::run(size_t& bytes) {
  bytes = find_runs();
  // Sender and receiver know that there is nothing to send. Parts that move on are sent all the
  // same, because the waits of their program rely on all messages.
  if (bytes == 0 && goes_directly()) return Code::ok;
  const Code code = run_with(bytes);
  if (segment_.suspends && code == Code::ok && bytes > channel_.net_->most_without_driving()) {
    const bool begins = step_.kind == plan::StepKind::post || step_.kind == plan::StepKind::send;
    channel_.driven_messages_ += begins ? 1 : static_cast<size_t>(-1);
  }
  return code;
}

Code Channel::MessageStep::run_with(size_t bytes) {
  std::byte* at = whole_.at;
  if (!in_one_piece_) {
    if (channel_.packed_.size() <= request_) channel_.packed_.resize(request_ + 1);
    std::vector<std::byte>& packed = channel_.packed_[request_];
    if (packed.size() < bytes) packed.resize(bytes);
    at = packed.data();
  }
  const uint64_t tag = segment_.number + message_.offset;
  switch (step_.kind) {
    case plan::StepKind::post:
      return channel_.net_->receive(request_, at, bytes, message_.peer, tag) ? Code::ok : fail();
    case plan::StepKind::send:
      if (const Code code = await_turn(bytes); code != Code::ok) return code;
      if (!in_one_piece_) pack(at);
      return send(at, bytes, tag);
    case plan::StepKind::receive:
      if (const Code code = wait(request_, message_.peer); code != Code::ok) return code;
      if (!in_one_piece_) unpack(at);
      return Code::ok;
    default: return end_send();
  }
}

Code Channel::MessageStep::send(const std::byte* from, size_t bytes, uint64_t tag) {
  if (takes_turns(bytes))
    channel_.leaving_.begin({request_, message_.peer, bytes, segment_.number + message_.posted});
  return channel_.net_->send(request_, from, bytes, message_.peer, tag) ? Code::ok : fail();
}

// Nobody passes a part on that goes directly, so none of them need come before the others.
bool Channel::MessageStep::takes_turns(size_t bytes) const {
  return bytes > channel_.net_->prompt() && channel_.net_->is_far(message_.peer) &&
         !goes_directly();
}

Code Channel::MessageStep::await_turn(size_t bytes) {
  if (!takes_turns(bytes)) return Code::ok;
  const uint64_t number = segment_.number + message_.offset;
  while (LeavingMessages::Message* const earlier = channel_.leaving_.awaited(bytes, number)) {
    if (const Code code = wait(earlier->request, earlier->peer); code != Code::ok) return code;
    earlier->ended = true;
  }
  return Code::ok;
}

Code Channel::MessageStep::end_send() {
  if (!channel_.leaving_.has_ended(request_)) {
    if (const Code code = wait(request_, message_.peer); code != Code::ok) return code;
  }
  channel_.leaving_.remove(request_);
  return Code::ok;
}

Code Channel::MessageStep::fail() {
  return channel_.fail(Code::unavailable, channel_.net_->failure());
}

Code Channel::MessageStep::wait(size_t request, int32_t peer) {
  using State = Net::State;
  State state = State::pending;
  const auto has_ended = [&] {
    state = channel_.net_->test(request);
    return state != State::pending;
  };
  bool ended = segment_.suspends && has_ended();
  if (segment_.suspends && !ended)
    return channel_.suspend_for_message(peer, step_.kind != plan::StepKind::receive,
                                        operation_.call);
  for (int tests = 0; tests < eager_tests && !ended; ++tests) ended = has_ended();
  if (!ended) {
    if (const Code code = wait_slowly(peer, has_ended); code != Code::ok) return code;
  }
  return state == State::done ? Code::ok : fail();
}

// The other end of a message may be on this node. It is then looked at as in waits for words: it
// may be in another call, or gone. Its last messages may still arrive until the next close look.
template <class HasEnded>
Code Channel::MessageStep::wait_slowly(int32_t peer, HasEnded has_ended) {
  shm::Control& own = *channel_.own_;
  const bool takes = step_.kind != plan::StepKind::receive;
  shm::store_relaxed(own.call, operation_.call);
  shm::store_relaxed(own.waits_for_message,
                     (static_cast<uint64_t>(peer) + 1) << 1 | (takes ? 1 : 0));
  channel_.say_waits(operation_);
  const int near = channel_.index_of(peer);
  bool was_gone = false;
  Waiter waiter(pace_of_messages(channel_.style_));
  const ProgressHook& hook = channel_.hook_;
  auto next_hook = Pace::Duration::zero();
  const Code code = waiter.until(has_ended, [&] {
    if (hook.call != nullptr && waiter.elapsed() >= next_hook) {
      hook.call(hook.context);
      next_hook = waiter.elapsed() + time_between_hooks;
    }
    if (near >= 0) {
      if (entered_other_call(channel_.control(near), channel_.base_, operation_.call))
        return channel_.fail_mismatch(near, operation_);
      if (waiter.looks_closely() && std::exchange(was_gone, channel_.is_gone(near)) && was_gone)
        return channel_.fail_gone(near, operation_.call);
    }
    return waiter.stalls() ? channel_.report_stall(peer, operation_.call) : Code::ok;
  });
  shm::store_relaxed(own.waits_for_message, 0);
  return code;
}

}  // namespace tutti::exec
