#include "exec/lane.h"

#include <utility>

#include "base/options.h"

namespace tutti::exec {
namespace {

constexpr auto looks_every = std::chrono::milliseconds(100);

}  // namespace

void Lane::issue(std::shared_ptr<LaneOperation> operation) {
  const std::lock_guard<std::mutex> lock(mutex_);
  issued_.push_back(std::move(operation));
  shm::add(under_way_, 1);
}

Lane::Turn Lane::drive() {
  if (is_idle()) return Turn::idle;
  if (!shm::take(owner_, 0, 1)) return Turn::taken;
  Turn turn = take_turn();
  if (net_ != nullptr) {
    const bool left = net_->all_have_left();
    shm::publish(leaving_, left ? 0 : 1);
    if (!left && turn == Turn::idle) turn = Turn::waits;
  }
  shm::publish(owner_, 0);
  return turn;
}

Lane::Turn Lane::take_turn() {
  Turn turn = Turn::idle;
  while (current_ != nullptr || begin_next()) {
    const uint64_t before = in_flight_ ? in_flight_->executed() : 0;
    const InFlight::State state = advance_current();
    const bool over = state != InFlight::State::under_way;
    const bool moved = over || (in_flight_ && in_flight_->executed() != before);
    if (moved) {
      turn = Turn::moved;
      waits_since_ = {};
    }
    if (over) {
      end_current();
      continue;
    }
    if (!moved) note_waiting();
    return turn == Turn::idle ? Turn::waits : turn;
  }
  return turn;
}

bool Lane::begin_next() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (issued_.empty()) return false;
  current_ = std::move(issued_.front());
  issued_.pop_front();
  return true;
}

// If memory runs out, the operation begins in a later turn.
InFlight::State Lane::advance_current() {
  try {
    if (!in_flight_) in_flight_.emplace(channel_, *current_->bound, current_->operation);
  } catch (const std::bad_alloc&) {
    return InFlight::State::under_way;
  }
  return in_flight_->advance();
}

// Whoever sees that the operation is over may destroy all but the lane, so the lane forgets it
// first.
void Lane::end_current() {
  const std::shared_ptr<LaneOperation> ended = std::move(current_);
  ended->code = in_flight_->code();
  if (ended->code != Code::ok) {
    ended->failure = channel_.failure();
    ended->stalled = channel_.stalled();
  }
  in_flight_.reset();
  waits_since_ = {};
  stall_told_ = false;
  shm::add(under_way_, static_cast<uint64_t>(-1));
  shm::publish(ended->over, 1);
}

// A look costs system calls, so one follows the other after 100 ms.
void Lane::note_waiting() {
  if (!in_flight_) return;
  const auto now = Clock::now();
  if (waits_since_ == Clock::time_point{}) {
    waits_since_ = now;
    next_look_ = now + looks_every;
  }
  if (now < next_look_) return;
  next_look_ = now + looks_every;
  const auto limit = std::chrono::seconds(options().stall_seconds);
  const bool stalls = !stall_told_ && limit.count() > 0 && now - waits_since_ >= limit;
  if (stalls) stall_told_ = true;
  if (in_flight_->look(stalls) != InFlight::State::under_way) end_current();
}

}  // namespace tutti::exec
