// A lane: a channel in which operations that outlive their call run one after another, in the order
// in which they were issued.
//
// A group has a few lanes beside the channel of its blocking calls, each with shared memory, rings
// and message tags of its own, so that operations of different lanes do not wait for each other.
// All ranks issue the same operations to a lane, in the same order.
//
// Whoever has the time drives a lane: a server (mpi/job/servers.h), or a rank that waits for an
// operation or tests it. One thread at a time does, which has taken the lane's owner flag; the
// others go on with something else. Any thread may call the functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "exec/in_flight.h"
#include "exec/look_times.h"
#include "exec/watched_time.h"

namespace tutti::exec {

// An operation of a lane. Its issuer and the lane hold it. The issuer fills the first members
// before it issues the operation, and leaves the object and the buffers alone until is_over().
struct LaneOperation {
  std::shared_ptr<const BoundProgram> bound;
  Operation operation;
  Combine combine;                   // the combination that `operation` points to, if it has one
  VParts parts;                      // the parts that `operation` points to, in a v-collective
  std::vector<std::byte> copied;     // a copy of `in`, if one buffer cannot be both
  std::vector<ptrdiff_t> copied_at;  // the places of its parts, in a v-collective

  bool is_over() const { return shm::observe(over) != 0; }
  // Once the operation is over. The failure is one line.
  Code code = Code::ok;
  std::string failure;
  bool stalled = false;  // the failure was a stall and TUTTI_STALL=abort

  shm::Word over{0};  // the lane's
};

class Lane {
 public:
  using Clock = LookTimes::Clock;

  // The result of a turn.
  enum class Turn : uint8_t {
    idle,   // there is nothing to do
    waits,  // no step could be executed, or messages have not left
    moved,  // some step was executed
    taken,  // another thread drives the lane
  };

  // The areas and the net outlive the lane. Arguments are Channel's.
  Lane(std::byte* areas, const shm::Layout& layout, int rank, const Channel::Settings& settings)
      : tracer_(settings.tracer), net_(settings.net), channel_(areas, layout, rank, settings) {}
  ~Lane();
  Lane(const Lane&) = delete;

  // Waits for nothing.
  void issue(std::shared_ptr<LaneOperation> operation);
  // Executes what steps it can, if no other thread drives the lane at this moment.
  Turn drive();
  // The same for a server: leaves the lane alone while a rank waits inside a call that drives it.
  Turn drive_for_others() { return shm::load_relaxed(helpers_) == 0 ? drive() : Turn::taken; }
  // When a server should drive the lane next, if no thread drives it meanwhile: the past if there
  // is something to begin with.
  Clock::time_point next_look() const {
    return Clock::time_point(std::chrono::nanoseconds(shm::load_relaxed(next_look_)));
  }
  // While it lives, the calling thread drives the lane again and again.
  class Helping {
   public:
    explicit Helping(Lane& lane) : lane_(lane) { shm::count_in(lane.helpers_); }
    ~Helping() { shm::count_out(lane_.helpers_); }
    Helping(const Helping&) = delete;

   private:
    Lane& lane_;
  };
  // True if no operation is under way or waits for its turn, and the messages of all have left.
  bool is_idle() const { return shm::observe(under_way_) == 0 && shm::observe(leaving_) == 0; }
  const Channel& channel() const { return channel_; }

 private:
  Turn take_turn();
  bool begin_next();
  InFlight::State advance_current();
  trace::Ring* ring_of(const BoundProgram& bound);
  void end_current();
  bool have_all_left();
  void note_waiting();
  void ask_for_look(const LookTimes& times);
  void look_at_others(Clock::time_point now);

  std::mutex mutex_;                                   // guards issued_
  std::deque<std::shared_ptr<LaneOperation>> issued_;  // not begun
  shm::Word under_way_{0};                             // operations, begun or not
  shm::Word owner_{0};                                 // 1: a thread drives the lane
  shm::Word helpers_{0};                               // threads that drive it again and again

  shm::Word leaving_{0};    // 1: some messages have not left
  shm::Word next_look_{0};  // nanoseconds of Clock
  // Those below belong to the owner.
  trace::Tracer* tracer_;        // null: nothing is recorded
  trace::Ring* ring_ = nullptr;  // the records of its operations; lent at the first one
  Net* net_;
  Channel channel_;
  std::shared_ptr<LaneOperation> current_;
  std::optional<InFlight> in_flight_;
  LookTimesByPlace times_;               // the look times of awaited ranks
  LookTimes departures_;                 // the look times of messages that leave
  Clock::time_point looks_at_others_{};  // the time of the current wait's next look at other ranks,
                                         // as in `watched_`
  WatchedTime watched_;
};

}  // namespace tutti::exec
