#include "exec/messages.h"

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>

#include "base/options.h"
#include "plan/semantics.h"

namespace tutti::exec {
namespace {

using Clock = std::chrono::steady_clock;

// A message takes microseconds at least, so a wait for one soon looks at the clock.
constexpr int eager_tests = 20;
constexpr int tests_between_looks = 8;
// A rank knows how many share its cores on its node, not who else does (containers and virtual
// machines look like nodes of their own), so every wait for a message yields: that takes no longer
// than a test of a message where nobody wants the core. Where cores are known to be few, it sleeps
// once that has gone on for a while.
constexpr auto yield_before_sleep = std::chrono::microseconds(100);
constexpr useconds_t sleep_microseconds = 10;

// The system lets a thread's timers be late by 50 us, more than a message takes; not while one is
// awaited.
class PromptTimers {
 public:
  PromptTimers() : before_(prctl(PR_GET_TIMERSLACK)) { prctl(PR_SET_TIMERSLACK, 1UL); }
  ~PromptTimers() { prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(std::max(before_, 1))); }
  PromptTimers(const PromptTimers&) = delete;

 private:
  const int before_;  // nanoseconds
};

}  // namespace

MessageStep::MessageStep(Channel& channel, const BoundProgram& bound, const BoundStep& step,
                         const Operation& operation, const MessageSegment& segment)
    : channel_(channel),
      message_(bound.messages[bound.details[step.details].message]),
      pieces_(bound.pieces.data() + message_.first_piece),
      step_(step),
      operation_(operation),
      segment_(segment),
      request_(message_.first_request + static_cast<size_t>(segment.segment) % message_.in_flight) {
}

MessageStep::Run MessageStep::run_of(const BoundPiece& piece) const {
  std::byte* const at = segment_.base_of[piece.operand.space] + piece.operand.displacement() +
                        segment_.offsets.of(piece.operand);
  if (segment_.geometry == nullptr || segment_.parts) return {at, segment_.bytes};
  return {at, plan::extent_length(piece.extent_first, piece.extent_count,
                                  segment_.geometry->block_bytes, segment_.bytes)};
}

size_t MessageStep::find_runs() {
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

void MessageStep::pack(std::byte* to) const {
  for (uint32_t i = 0; i < message_.piece_count; ++i) {
    const Run run = run_of(pieces_[i]);
    if (run.bytes > 0) std::memcpy(to, run.at, run.bytes);
    to += run.bytes;
  }
}

void MessageStep::unpack(const std::byte* from) const {
  for (uint32_t i = 0; i < message_.piece_count; ++i) {
    const Run run = run_of(pieces_[i]);
    if (run.bytes > 0) std::memcpy(run.at, from, run.bytes);
    from += run.bytes;
  }
}

Code MessageStep::run(size_t& bytes) {
  bytes = find_runs();
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
      if (!in_one_piece_) pack(at);
      return channel_.net_->send(request_, at, bytes, message_.peer, tag) ? Code::ok : fail();
    case plan::StepKind::receive:
      if (const Code code = wait(); code != Code::ok) return code;
      if (!in_one_piece_) unpack(at);
      return Code::ok;
    default: return wait();
  }
}

Code MessageStep::fail() { return channel_.fail(Code::unavailable, channel_.net_->failure()); }

Code MessageStep::wait() {
  using State = Net::State;
  for (int i = 0; i < eager_tests; ++i) {
    const State state = channel_.net_->test(request_);
    if (state != State::pending) return state == State::done ? Code::ok : fail();
  }
  shm::Control& own = *channel_.own_;
  const bool takes = step_.kind == plan::StepKind::sent;
  shm::store_relaxed(own.call, operation_.call);
  shm::store_relaxed(own.waits_for_message,
                     (static_cast<uint64_t>(message_.peer) + 1) << 1 | (takes ? 1 : 0));
  const auto begin = Clock::now();
  const int64_t limit = options().stall_seconds;
  bool reported = false;
  std::optional<PromptTimers> prompt;
  Code code = Code::ok;
  for (int tests = 1; code == Code::ok; ++tests) {
    const State state = channel_.net_->test(request_);
    if (state != State::pending) {
      if (state == State::failed) code = fail();
      break;
    }
    sched_yield();
    if (tests % tests_between_looks != 0) continue;
    const auto elapsed = Clock::now() - begin;
    if (channel_.style_ == WaitStyle::yield && elapsed > yield_before_sleep) {
      if (!prompt) prompt.emplace();
      usleep(sleep_microseconds);
    }
    if (limit == 0 || reported || elapsed < std::chrono::seconds(limit)) continue;
    reported = true;
    code = channel_.report_stall(message_.peer, operation_.call);
  }
  shm::store_relaxed(own.waits_for_message, 0);
  return code;
}

}  // namespace tutti::exec
