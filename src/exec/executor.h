// The executor: the only loop over steps.
//
// A Channel is one rank's side of a group's shared memory: where the areas are, how far the rings
// have been used, how to wait. `execute` runs one bound program on it. One thread at a time may use
// a channel (MPI forbids concurrent collectives on one communicator; thread groups have a channel a
// thread). Nothing here allocates, locks or logs while it does not wait.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/options.h"
#include "exec/bound.h"
#include "exec/leaving.h"
#include "exec/net.h"
#include "exec/operation.h"
#include "exec/passed.h"
#include "exec/reach.h"
#include "exec/slot_stores.h"
#include "exec/waiter.h"
#include "plan/geometry.h"
#include "plan/program.h"
#include "shm/layout.h"
#include "trace/tracer.h"

namespace tutti::exec {

// How a program's hand-overs travel, whether its buffers have parts, and, for vectors in slots,
// whether there are several segments.
enum class Shape : uint8_t { lines, part_lines, whole, segmented, parts };
// The ways of data beside lines and slots: users' buffers that ranks reach, or messages. In a lane
// messages are a way, too, and steps do not wait (in_flight.h).
enum class Beyond : uint8_t { nothing, buffers, nodes, lanes };

// Returned inside this room by steps of an operation that is advanced in pieces (in_flight.h),
// where they would have to wait.
inline constexpr Code would_wait = static_cast<Code>(-1);

class alignas(64) Channel {
 public:
  struct Settings {
    WaitStyle style = WaitStyle::spin;
    SlotStores::Policy stores = SlotStores::Policy::plain;
    // This rank's pid where ranks are processes, so that peers notice its death; 0: a thread.
    uint64_t process = 0;
    ProgressHook hook;
    Reach reach;
    // The ranks of the group that share the areas, rising, in the areas' order; empty: all. The
    // others are reached by `net`, which outlives the channel.
    std::vector<int32_t> members;
    Net* net = nullptr;
    // Records what this channel executes, and outlives it; null: nothing is recorded.
    trace::Tracer* tracer = nullptr;
    uint32_t communicator = 0;          // number of the group's communicator there
    uint64_t first_epoch = 0;           // the number there of the channel's first operation
    NameOfKind name_of_kind = nullptr;  // null: calls have no kinds
  };
  // `areas` is the start of the group's areas on this node, which outlive the channel; `rank` is
  // the group's.
  Channel(std::byte* areas, const shm::Layout& layout, int rank, const Settings& settings);

  // The ranks that run a program together: all ranks of the group, or those of a node, who run it
  // as often as they like. The latter must be the program of a plan without messages.
  enum class Among : uint8_t { group, node };
  // `reach`: how readers may bypass the slots, the same at all ranks. automatic: as the settings
  // say.
  std::unique_ptr<const BoundProgram> bind(std::shared_ptr<const plan::Program> program,
                                           ReachChoice reach = ReachChoice::automatic,
                                           Among among = Among::group) const;

  // The memory and the abilities by which operations are cut (plan/geometry.h). The same at all
  // ranks.
  const plan::Resources& resources() const { return resources_; }

  // Runs a bound program by its start or a copy of that, and throws nothing. Any other code than
  // Code::ok leaves the group unusable: every later call returns the same.
  Code execute(const Start& start, const Operation& operation) {
    if (failed_ != Code::ok) [[unlikely]]
      return failed_;
    try {  // here, so that the loops need not keep what they have in registers for a handler
      return start.run(*this, start, operation);
    } catch (...) {
      return fail_thrown(operation.call);
    }
  }

  // Runs a part of an operation that is no program: the host MPI's collective among leaders.
  // `collective` returns false if it failed; the caller then gives up. While it runs, the watchdogs
  // of other ranks report that this rank is in it.
  template <class Collective>
  Code among_leaders(const Operation& operation, Collective&& collective) {
    if (failed_ != Code::ok) return failed_;
    shm::store_relaxed(own_->call, operation.call);
    shm::store_relaxed(own_->kind, kind_of(operation));
    shm::store_relaxed(own_->waits_for_message, shm::Control::among_leaders);
    bool done = false;
    try {
      done = collective();
    } catch (...) {
      return fail_thrown(operation.call);
    }
    shm::store_relaxed(own_->waits_for_message, 0);
    return done ? Code::ok : Code::unavailable;
  }
  // Ends the use of the channel for a reason that it cannot see; every later call returns the code.
  Code give_up(Code code, std::string why) { return fail(code, std::move(why)); }

  // Tells the other ranks of the node what this rank passes to its next operation (passed.h). If
  // one rank tells it before an operation, all do. `runs_at_once`: the rank does not wait for what
  // they tell, because its program hears all of them (bound.h).
  void tell(const Passed& own, bool runs_at_once);
  // Waits until all have told that; also after a failure. `call` is this rank's, for messages.
  Code await_told(uint64_t call);
  // True if all that have told it pass the same.
  bool tell_alike() const;
  Passed told_by(int rank) const;
  bool any_runs_at_once() const;  // call it after await_told()

  // The counters of a channel, which grow as long as it lives.
  struct Counters {
    uint64_t base = 0;      // transfers
    uint64_t units = 0;     // the units taken of each ring; a multiple of line_size
    uint64_t reaching = 0;  // operations in which readers may bypass slots
  };
  // Adds to the counters as operations do. Tests call it between two operations, with the same
  // values at all ranks, to reach the wrap-around of the lower half of a counter's bits.
  void advance(const Counters& by);

  // For a handler, when something was thrown in the middle of an operation. This rank has entered
  // the operation, so others wait for steps that it will never execute.
  [[gnu::cold]] Code fail_thrown(uint64_t call) noexcept;

  // One line about the last failure; empty where there was none.
  const Reach& reach() const { return reach_; }
  const std::string& failure() const { return failure_; }
  // True if the failure was a stall and TUTTI_STALL=abort.
  bool stalled() const { return stalled_; }

  int rank() const { return rank_; }
  const shm::Layout& layout() const { return layout_; }
  WaitStyle style() const { return style_; }

  // The name of a call for messages.
  std::string describe(uint64_t call) const { return describe_call(call, true, name_of_kind_); }
  // One line about what a rank does, for the watchdog and for tests that time out.
  std::string standing(int rank) const;
  // An operation for messages about ranks that wait.
  struct Waiting {
    uint64_t call = 0;  // call_signature; 0: none
    uint32_t kind = 0;  // Combine::kind; 0: it combines nothing
  };
  // The operation in which this rank has waited long, or has failed. Any thread.
  Waiting waits_in() const;

 private:
  friend class InFlight;  // in_flight.h
  // The parts of an operation that have headers of their own.
  class MessageStep;    // messages.h
  class ArrivalReduce;  // arrival.h
  class Reached;        // reached.h
  struct Unreached;
  class PeerWatch;  // channel_waits.cpp
  class ToldWatch;
  template <Shape shape, bool traced>
  class InPieces;  // in_flight.cpp

  // A ring that all ranks use in the same way. A cursor that only grows counts its units (bytes or
  // lines).
  struct Ring {
    uint64_t cursor = 0;  // units taken so far
    uint64_t limit = 0;   // units up to here can be taken without any other check
    uint64_t lap = 0;     // the cursor at the ring's first unit
    uint64_t size = 0;
    uint64_t safe = 0;  // this rank knows that all ranks have ended the operations before this
                        // cursor

    uint64_t position() const { return cursor - lap; }
    // Makes the next `units` consecutive, and tells whether they may be written.
    bool make_room(uint64_t units) {
      if (position() + units > size) cursor = lap += size;
      limit = std::min(lap, safe) + size;
      return cursor + units <= limit;
    }
  };

  // `index`: a rank's place among the areas, by which bound programs name peers.
  shm::Control& control(int index) const {
    return *reinterpret_cast<shm::Control*>(areas_ + static_cast<size_t>(index) * stride_);
  }
  int rank_of(int index) const {
    return members_.empty() ? index : members_[static_cast<size_t>(index)];
  }
  class Binder;  // Used by bind. See bind.cpp.
  // -1 on other nodes. For set-up, slow waits and reports: a search.
  int index_of(int rank) const;
  // The counters at a point in the past. A rank waits until all ranks have passed it before it
  // writes a ring's first unit again.
  struct Checkpoint {
    uint64_t base = 0;
    uint64_t lines = 0, short_slots = 0, long_slots = 0;  // the rings' cursors
  };

  // Keeps the failure and returns its code.
  Code fail(Code code, std::string message);
  // Fails, unless the ranks have told that their calls fit; then returns Code::ok.
  Code fail_mismatch(int peer, const Operation& operation);
  const shm::Control::Told& told(int index) const { return control(index).told[told_ % 2]; }
  bool has_told(int index) const { return shm::observe(told(index).number) / 2 == told_; }
  Code fail_gone(int peer, uint64_t call);  // its process has ended
  bool is_gone(int peer) const;
  static uint32_t kind_of(const Operation& operation) {
    return operation.combine != nullptr ? operation.combine->kind : 0;
  }
  // Says, to peers and to waits_in(), which operation this rank waits or fails in.
  void say_waits(const Operation& operation);
  // Reports what the ranks of this node do, and fails if TUTTI_STALL=abort. `awaited` is a rank of
  // the group.
  Code report_stall(int awaited, uint64_t call);

  // The loop is compiled for each shape. It is compiled again for programs that reduce in the order
  // of arrival, for channels whose steps are recorded, for long messages whose readers bypass
  // slots, and for groups of several nodes, so that other programs do not pay for these.
  template <bool yielding, Shape shape, bool arrivals, bool traced, Beyond beyond>
  class Execution;  // execution.h
  template <bool yielding, Shape shape, bool arrivals, bool traced, Beyond beyond = Beyond::nothing>
  static Code run(Channel& channel, const Start& start, const Operation& operation);
  // The same for an Exchange, without a loop.
  template <bool yielding, bool combines>
  static Code run_exchange(Channel& channel, const Start& start, const Operation& operation);
  template <bool yielding, bool arrivals, bool traced>
  static Code run_slots(Channel& channel, const Start& start, const Operation& operation);
  template <bool yielding, bool arrivals, bool traced>
  static Code run_offers(Channel& channel, const Start& start, const Operation& operation);
  template <bool yielding, bool arrivals, bool traced>
  decltype(Start::run) runner(const BoundProgram& bound) const {
    const plan::Program& program = *bound.program;
    if (net_ != nullptr) return net_runner<yielding, traced>(program);
    if (bound.reach_from != SIZE_MAX) return &run_offers<yielding, arrivals, traced>;
    if (program.parted && !program.uses_lines)
      return &run<yielding, Shape::parts, arrivals, traced>;
    if (program.parted) return &run<yielding, Shape::part_lines, arrivals, traced>;
    if (!traced && bound.start.exchange.peer >= 0)
      return bound.start.exchange.combines ? &run_exchange<yielding, true>
                                           : &run_exchange<yielding, false>;
    return program.uses_lines ? &run<yielding, Shape::lines, arrivals, traced>
                              : &run_slots<yielding, arrivals, traced>;
  }
  using Runner = decltype(Start::run);
  // Messages take so long that one instance can serve programs with arrivals and without, in
  // segments and whole.
  template <bool yielding, bool traced>
  static Runner net_runner(const plan::Program& program);
  Runner runner_for(const BoundProgram& bound) const;
  // True if there is a tracer, whose filter wants the program's collective.
  bool traces(const plan::Program& program) const {
    return tracer_ != nullptr && tracer_->wants(static_cast<uint32_t>(program.collective));
  }
  // Wait until a value of a peer is here, or until one of several is; the caller then polls the
  // others before it waits again. Out of line, so that the path of a call that need not wait stays
  // short. `operation` is this rank's, for messages.
  [[gnu::noinline]] Code wait_for(const Awaited& awaited, const Operation& operation);
  [[gnu::noinline]] Code wait_for_any(const Awaited* awaited, int count,
                                      const Operation& operation);
  Code wait_for_late(const Awaited* awaited, int count, const Operation& operation);
  // For a line, by what the short path has in registers.
  [[gnu::noinline]] Code wait_for_line(const shm::Line& line, uint64_t number, int32_t peer,
                                       const Operation& operation);
  // Hand-overs (lines.h).
  template <bool yielding>
  void post(shm::Line& line, uint64_t number, uint64_t call);
  Code expect(const shm::Line& line, uint64_t number, int32_t peer, const Operation& operation);
  template <bool yielding>
  void end(uint64_t next);
  // A step of more than two sources, or whose operation has no kernel.
  static void combine_many(const BoundProgram& bound, const BoundStep& step,
                           const Operation& operation, std::byte* const* base_of,
                           const Offsets& offsets, size_t bytes);
  // Makes room for `units` of a ring whose limit is reached. If a slow rank may still read the
  // memory that this rank will write, it waits until the slow rank has read it.
  Code make_room(Ring& ring, uint64_t units, bool writes, const Operation& operation) {
    return make_room(ring, units, writes, operation, false);
  }
  // `suspends`: returns would_wait instead of waiting.
  Code make_room(Ring& ring, uint64_t units, bool writes, const Operation& operation,
                 bool suspends);
  Code await_readers(const Ring& ring, uint64_t units, const Operation& operation, bool suspends);
  // For an operation that is advanced in pieces: notes what it waits for, and returns would_wait.
  Code suspend(const Awaited& awaited, uint64_t call);
  Code suspend_for_message(int32_t peer, bool takes, uint64_t call);
  void resume();
  // Looks whether what the suspended operation waits for can still come. `stalls`: it has waited
  // for as long as the watchdog allows.
  Code look_at_suspended(const Operation& operation, bool stalls);
  // Gives the long ring the pages of its first `needed` bytes, or of more, at once.
  void populate(uint64_t needed);
  Checkpoint here() const {
    return {base_, lines_.cursor, short_slots_.cursor, long_slots_.cursor};
  }

  // Two cache lines, which every short call reads. Constant after construction, except `failed_`
  // and the fields that are the same at all ranks between operations.
  Code failed_ = Code::ok;
  int index_;          // this rank's among the areas
  shm::Control* own_;  // this rank's
  // Rank 0's first line and first slot; those of consecutive ranks are a stride apart.
  std::byte* first_line_;
  std::byte* first_slot_;
  std::byte* areas_;
  size_t stride_;
  uint64_t base_ = 0;  // every word of this node at the end of the last operation
  size_t most_short_;  // bytes of a slot that go through the small ring
  Ring lines_;
  Ring short_slots_;  // two rings share a slot (plan/geometry.h)
  Ring long_slots_;

  // The same at all ranks between operations.
  Checkpoint checkpoint_;
  uint64_t epoch_ = 0;              // operations so far; counted where they are recorded
  uint64_t epoch_within_node_ = 0;  // the same for those that only the ranks of this node run
  uint64_t reaching_ = 0;           // operations so far in which readers may bypass slots
  // The number from which the tags of messages count, the same at all ranks of the group. It grows
  // as base_ does, except in programs that the ranks of a node run among themselves.
  uint64_t messages_base_ = 0;
  SlotStores stores_;
  uint64_t told_ = 0;       // the operations before which tell() was called
  uint64_t populated_ = 0;  // bytes of the long ring whose pages this rank has touched

  // Constant after construction.
  WaitStyle style_;
  int rank_;  // this rank's number in the group
  shm::Layout layout_;
  plan::Resources resources_;
  // Indexed by member, rising: its rank in the group; empty: the same.
  std::vector<int32_t> members_;
  Net* net_;
  Reach reach_;
  ProgressHook hook_;
  trace::Tracer* tracer_;
  uint32_t communicator_;
  NameOfKind name_of_kind_;

  std::vector<std::byte> scratch_;  // for data that is read from other processes and combined
  LeavingMessages leaving_;
  // Messages under way beyond most_without_driving(), of an operation that is advanced in pieces.
  size_t driven_messages_ = 0;
  // Indexed by request: the packed copy of a message whose data lies in several pieces.
  std::vector<std::vector<std::byte>> packed_;
  // The wait of an operation that is advanced in pieces. Both are unset while it does not.
  struct Suspended {
    Awaited awaited{};          // its word is null: no word and no line
    int32_t message_peer = -1;  // a rank of the group; -1: no message
  } suspended_;
  std::string failure_;
  bool stalled_ = false;
};

}  // namespace tutti::exec
