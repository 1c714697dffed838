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
#include "exec/net.h"
#include "exec/operation.h"
#include "exec/reach.h"
#include "exec/slot_stores.h"
#include "plan/program.h"
#include "shm/layout.h"
#include "trace/tracer.h"

namespace tutti::exec {

enum class WaitStyle : uint8_t {
  spin,   // a core for every rank: poll, call the progress hook now and then
  yield,  // more ranks than cores: poll a little, yield, then sleep on the peer's doorbell
};

// Called while waiting, so that the host MPI's messages progress; null where there is no host.
struct ProgressHook {
  void (*call)(void* context) = nullptr;
  void* context = nullptr;
};

// How a program's hand-overs travel, whether its buffers have parts, and, for vectors in slots, how
// often it runs.
enum class Shape : uint8_t { lines, part_lines, whole, segmented, parts };
// What data goes through beside them: users' buffers that ranks reach, or messages.
enum class Beyond : uint8_t { nothing, buffers, nodes };

class alignas(64) Channel {
 public:
  struct Settings {
    WaitStyle style = WaitStyle::spin;
    SlotStores::Policy stores = SlotStores::Policy::plain;
    uint64_t process =
        0;  // this rank's pid where ranks are processes, so that peers notice its death
    ProgressHook hook;
    Reach reach;
    // The ranks of the group that share the areas, rising, in the areas' order; empty: all. The
    // others are reached by `net`, which outlives the channel.
    std::vector<int32_t> members;
    Net* net = nullptr;
    trace::Tracer* tracer =
        nullptr;  // records what this channel executes; outlives it; null: nobody does
    uint32_t communicator = 0;  // number of the group's communicator there
  };
  // `areas` is the start of the group's areas on this node, alive as long as the channel; `rank` is
  // the group's.
  Channel(std::byte* areas, const shm::Layout& layout, int rank, const Settings& settings);

  // `reach`: the ways beside slots that its readers may go, the same at all ranks. automatic: those
  // of the settings.
  std::unique_ptr<const BoundProgram> bind(std::shared_ptr<const plan::Program> program,
                                           ReachChoice reach = ReachChoice::automatic) const;

  // Bytes of one segment that this channel's slots can pipeline for a program that fits, about
  // `wanted` (0: the default) at most; `bytes` where one piece is best.
  size_t segment_bytes(const plan::Program& program, size_t element, size_t bytes,
                       size_t wanted) const;

  // Vectors of up to so many bytes go through in one piece, whatever their elements.
  size_t whole_up_to(const plan::Program& program, size_t wanted) const;
  // Whether an operation's lines, or segments of one element (of a few where elements are small),
  // fit the rings. The same at all ranks.
  bool fits(const plan::Program& program, size_t element) const;
  // Elements up to this size can be staged by flat plans.
  size_t max_element() const { return long_slots_.size / 8 / shm::line_size * shm::line_size; }

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

  // Runs what is no program as a part of an operation: the host MPI's collective among leaders,
  // which returns false where it failed; its caller then gives up. The watchdogs of the other ranks
  // tell of it.
  template <class Collective>
  Code among_leaders(uint64_t call, Collective&& collective) {
    if (failed_ != Code::ok) return failed_;
    shm::store_relaxed(own_->call, call);
    shm::store_relaxed(own_->waits_for_message, shm::Control::among_leaders);
    bool done = false;
    try {
      done = collective();
    } catch (...) {
      return fail_thrown(call);
    }
    shm::store_relaxed(own_->waits_for_message, 0);
    return done ? Code::ok : Code::unavailable;
  }
  // Ends the use of the channel for a reason that it cannot see; every later call returns the code.
  Code give_up(Code code, std::string why) { return fail(code, std::move(why)); }

  // What a channel counts for as long as it lives.
  struct Counters {
    uint64_t base = 0;      // transfers
    uint64_t units = 0;     // of each ring that were taken; a multiple of line_size
    uint64_t reaching = 0;  // operations in which readers may bypass slots
  };
  // Advances the counters as operations would, between two of them and at all ranks alike: for
  // tests of what happens when half of a counter's bits come round.
  void advance(const Counters& by);

  // The same, called inside a handler, for whatever was thrown in the middle of an operation. This
  // rank has entered it, so others wait for what it will not do any more.
  [[gnu::cold]] Code fail_thrown(uint64_t call) noexcept;

  // One line about the last failure; empty where there was none.
  const std::string& failure() const { return failure_; }
  // Whether that was a stall, which the user wants to end the job.
  bool stalled() const { return stalled_; }

  int rank() const { return rank_; }
  const shm::Layout& layout() const { return layout_; }
  WaitStyle style() const { return style_; }

  // Where a rank stands, one line, for the watchdog and for tests that time out.
  std::string standing(int rank) const;

 private:
  friend class SlowWait;
  friend class MessageStep;
  friend class ArrivalReduce;
  friend class Reached;

  // A ring that all ranks use alike. Units (bytes, lines) are counted by a cursor that grows for
  // ever.
  struct Ring {
    uint64_t cursor = 0;  // units taken so far
    uint64_t limit = 0;   // up to here they can be taken without a look at anything else
    uint64_t lap = 0;     // the cursor at the ring's first unit
    uint64_t size = 0;
    uint64_t safe = 0;  // this rank knows that all ranks have ended what was before this cursor

    uint64_t position() const { return cursor - lap; }
    // Makes the next `units` consecutive, and tells whether they may be written.
    bool make_room(uint64_t units) {
      if (position() + units > size) cursor = lap += size;
      limit = std::min(lap, safe) + size;
      return cursor + units <= limit;
    }
  };

  // By a rank's place among the areas, as peers are told in bound programs.
  shm::Control& control(int index) const {
    return *reinterpret_cast<shm::Control*>(areas_ + static_cast<size_t>(index) * stride_);
  }
  int rank_of(int index) const {
    return members_.empty() ? index : members_[static_cast<size_t>(index)];
  }
  // -1 on other nodes. For set-up and reports: a search.
  int index_of(int rank) const;
  // A point in the past to wait for when a ring comes round.
  struct Checkpoint {
    uint64_t base = 0;
    uint64_t lines = 0, short_slots = 0, long_slots = 0;  // the rings' cursors
  };

  // Notes the failure and returns its code.
  Code fail(Code code, std::string message);
  Code fail_mismatch(int peer, uint64_t call);
  // Says where the ranks of this node stand; fails where the user asked for it. `awaited` is a rank
  // of the group.
  Code report_stall(int awaited, uint64_t call);

  // The loop is compiled for each shape, and again for programs that reduce in the order of
  // arrival, for channels whose steps are recorded, for long messages where ranks reach each
  // other's buffers, and for groups of several nodes, so that others do not pay for them.
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
    if (program.has_elidable_copies && bound.reach_from != SIZE_MAX)
      return &run_offers<yielding, arrivals, traced>;
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
  // Messages take long enough that one instance serves programs with arrivals and without, in
  // segments and whole.
  template <bool yielding, bool traced>
  static Runner net_runner(const plan::Program& program);
  Runner runner_for(const BoundProgram& bound) const;
  // Whether the slots have room for a table of places (reached.h) beside an operation's segments.
  // The same at all ranks.
  bool has_table(const BoundProgram& bound, const Operation& operation) const;
  // Hand-overs (lines.h).
  template <bool yielding>
  void post(shm::Line& line, uint64_t number, uint64_t call);
  Code expect(const shm::Line& line, uint64_t number, int32_t peer, uint64_t call);
  template <bool yielding>
  void end(uint64_t next);
  // A step of more than two sources, or whose operation has no kernel.
  static void combine_many(const BoundProgram& bound, const BoundStep& step,
                           const Operation& operation, std::byte* const* base_of,
                           const Offsets& offsets, size_t bytes);
  // Room for `units` of a ring where its limit is reached. Where it has come round to what a slow
  // rank may still read, and this rank will write, waits until that has been read.
  Code make_room(Ring& ring, uint64_t units, bool writes, const Operation& operation);
  size_t unasked_bytes(const plan::Program& program) const;
  void populate();
  Checkpoint here() const {
    return {base_, lines_.cursor, short_slots_.cursor, long_slots_.cursor};
  }

  // What every short call reads, two cache lines. Constant after construction, but for `failed_`
  // and what is the same at all ranks between operations.
  Code failed_ = Code::ok;
  int index_;          // this rank's among the areas
  shm::Control* own_;  // this rank's
  std::byte*
      first_line_;  // rank 0's first line; other ranks' are a stride apart, as are their slots
  std::byte* first_slot_;
  std::byte* areas_;
  size_t stride_;
  uint64_t base_ = 0;  // every rank's word at the end of the last operation
  size_t most_short_;  // bytes of a slot that go through the small ring
  Ring lines_;
  // Two rings share a slot. Short messages go round in a small one, whose lines stay in the
  // first-level caches of writer and readers: with 8 KiB messages a ring of 16 KiB was a third
  // faster than one of 120 KiB.
  Ring short_slots_;
  Ring long_slots_;

  // The same at all ranks between operations.
  Checkpoint checkpoint_;
  uint64_t epoch_ = 0;     // operations so far; counted where they are recorded
  uint64_t reaching_ = 0;  // those so far in which readers may bypass slots
  SlotStores stores_;
  bool populated_ = false;

  // Constant after construction.
  WaitStyle style_;
  int rank_;  // of the group
  shm::Layout layout_;
  std::vector<int32_t> members_;  // by index, rising: the group's rank; empty: the same
  Net* net_;
  Reach reach_;
  ProgressHook hook_;
  trace::Tracer* tracer_;
  uint32_t communicator_;

  std::vector<std::byte> scratch_;  // for what is read from other processes to be combined
  std::vector<std::vector<std::byte>>
      packed_;  // by request: of a message that lies in several pieces
  std::string failure_;
  bool stalled_ = false;
};

}  // namespace tutti::exec
