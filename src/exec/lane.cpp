#include "exec/lane.h"

#include <utility>

#include "base/error.h"
#include "base/log.h"

namespace tutti::exec {
namespace {

constexpr auto looks_every = std::chrono::milliseconds(100);

}  // namespace

Lane::~Lane() {
  if (ring_ != nullptr) tracer_->give_back(ring_);
}

void Lane::issue(std::shared_ptr<LaneOperation> operation) {
  const std::lock_guard<std::mutex> lock(mutex_);
  issued_.push_back(std::move(operation));
  // It can begin at once. The last look that was asked for may be one for messages that leave.
  if (shm::load_relaxed(under_way_) == 0) shm::store_relaxed(next_look_, 0);
  shm::add(under_way_, 1);
}

Lane::Turn Lane::drive() {
  if (is_idle()) return Turn::idle;
  if (!shm::take(owner_, 0, 1)) return Turn::taken;
  Turn turn = take_turn();
  if (net_ != nullptr && !have_all_left() && turn == Turn::idle) turn = Turn::waits;
  shm::publish(owner_, 0);
  return turn;
}

bool Lane::have_all_left() {
  const bool left = net_->all_have_left();
  shm::publish(leaving_, left ? 0 : 1);
  if (left)
    departures_.found(Clock::now());
  else
    departures_.missed(Clock::now());
  if (left || current_ != nullptr) return left;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (issued_.empty()) ask_for_look(departures_);
  return false;
}

void Lane::ask_for_look(const LookTimes& times) {
  shm::store_relaxed(next_look_, static_cast<uint64_t>(times.next().time_since_epoch().count()));
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
      times_.found(Clock::now());
    }
    if (over) {
      end_current();
      continue;
    }
    note_waiting();
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

// Null if the operation is not recorded. Steps are executed whether there is memory for records or
// not.
trace::Ring* Lane::ring_of(const BoundProgram& bound) {
  if (tracer_ == nullptr || !tracer_->wants(static_cast<uint32_t>(bound.program->collective)))
    return nullptr;
  try {
    if (ring_ == nullptr) ring_ = tracer_->lend();
  } catch (const Error& error) {
    log_once("lane/trace", LogLevel::warning, "operations in lanes are not traced: %s",
             error.what());
    tracer_ = nullptr;
  }
  return ring_;
}

// If memory runs out, the operation begins in a later turn.
InFlight::State Lane::advance_current() {
  try {
    if (!in_flight_)
      in_flight_.emplace(channel_, *current_->bound, current_->operation,
                         ring_of(*current_->bound));
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
  times_.found(Clock::now());
  times_.operation_begins();
  shm::store_relaxed(next_look_, 0);
  shm::add(under_way_, static_cast<uint64_t>(-1));
  shm::publish(ended->over, 1);
}

void Lane::note_waiting() {
  const auto now = Clock::now();
  const bool begins = !times_.here().waits();
  times_.missed(now, in_flight_ && in_flight_->needs_driving());
  ask_for_look(times_.here());
  if (begins) {
    looks_at_others_ = now + looks_every;
    watched_ = WatchedTime(now);
  }
  if (now >= looks_at_others_) look_at_others(now);
}

// Finds ranks that have died or are late. That costs system calls.
void Lane::look_at_others(Clock::time_point now) {
  looks_at_others_ = now + looks_every;
  if (!in_flight_) return;
  watched_.look(now);
  if (in_flight_->look(watched_.stalls()) != InFlight::State::under_way) end_current();
}

}  // namespace tutti::exec
