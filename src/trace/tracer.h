// A tracer records the operations of one rank. It has a ring for each thread that makes collective
// calls and for each lane, and tables of the programs and communicators that the records name by
// number.
//
// A process of an MPI program has one tracer, and each thread rank of a team has one. It is made
// before the first operation, and is not destroyed while a thread that used it lives. Any thread
// may call any function; operations call ring() alone. The thread that makes the tracer gets the
// first ring at once; any other thread gets one with its first operation. A thread or a lane that
// ends leaves its ring and the records in it to the next new one, so there are as many rings as
// threads and lanes ever ran at a time.
//
// This room knows no plans and no MPI: programs come as text, whose meaning is the reader's
// concern.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "trace/filter.h"
#include "trace/ring.h"
#include "trace/ticks.h"

namespace tutti::trace {

// A communicator, as each of its ranks knows it.
struct Communicator {
  uint64_t identity = 0;   // the same at all of its ranks, and unique in the job
  std::vector<int> ranks;  // its members' ranks in the world; -1: not of this world
};

// A program as its executor describes it: a JSON object, and the same without the program's steps.
struct ProgramText {
  std::string whole, without_steps;
};

class Tracer {
 public:
  struct Settings {
    size_t records = least_records;  // the records of every ring
    // Bytes of the descriptions of all programs together; later ones lose their steps.
    size_t description_bytes = size_t{16} << 20;
    Filter filter = {};
    int rank = 0;  // this process's in the world, for the filter
  };
  explicit Tracer(const Settings& settings);
  Tracer(const Tracer&) = delete;
  ~Tracer();

  Ring& ring() {
    if (claimed_by_thread.tracer == this) [[likely]]
      return *claimed_by_thread.ring;
    return claim();
  }

  // The filter. A collective is asked for when a program is bound, the time once for each
  // operation.
  bool wants(uint32_t collective) const {
    return is_wanted_rank_ && settings_.filter.collectives[collective];
  }
  // Indexed by the kind of a step: whether an operation records it. `whole`: the operation is
  // wanted.
  using Kinds = std::array<bool, 256>;
  const Kinds& wanted_steps(bool whole) const { return whole ? wanted_steps_ : no_steps; }
  bool wants_now() const {
    if (!settings_.filter.has_window()) return true;
    const uint64_t passed = monotonic_nanoseconds() - begun_;
    return settings_.filter.from <= passed && passed < settings_.filter.until;
  }

  // A ring for records that no thread alone writes, until it is given back. Throws as Ring.
  Ring* lend();
  void give_back(Ring* ring);

  // Returns the number of a program; programs of equal contents have one number. Its steps are left
  // out once all descriptions together have reached their limit.
  uint32_t program(const ProgramText& text);
  uint32_t communicator(Communicator communicator);

  // The next functions are for the file, and called when no thread records any more. Programs are
  // JSON objects, in the order of their numbers.
  const std::vector<std::string>& programs() const { return programs_; }
  const std::vector<Communicator>& communicators() const { return communicators_; }
  std::vector<const Ring*> rings() const;
  // Frees the records and the texts of a tracer with which nobody records any more.
  void retire();

 private:
  struct Claim {
    Tracer* tracer = nullptr;
    Ring* ring = nullptr;
  };
  struct GiveBack;
  static constinit thread_local Claim claimed_by_thread;

  [[gnu::noinline]] Ring& claim();

  const Settings settings_;
  static constexpr Kinds no_steps = {};
  Kinds wanted_steps_;
  const bool is_wanted_rank_;
  const uint64_t begun_;      // a time of the monotonic clock
  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<Ring>> rings_;
  std::vector<Ring*> idle_;
  std::map<std::string, uint32_t> numbers_;
  std::vector<std::string> programs_;
  std::vector<Communicator> communicators_;
  size_t described_ = 0;  // bytes
};

// A recorder writes the records of one operation; it lives on the stack of the executor. A step
// begins where the one before it ended, so that one reading of the clock serves both; the time
// between two steps belongs to the later one.
class Recorder {
 public:
  explicit Recorder(Tracer* tracer) : Recorder(tracer, tracer->ring()) {}
  // For an operation that several threads may advance.
  Recorder(Tracer* tracer, Ring& ring)
      : ring_(ring),
        is_wanted_(tracer->wants_now()),
        wanted_steps_(tracer->wanted_steps(is_wanted_)),
        entry_(ticks()),
        last_(entry_) {}
  // For an operation of a collective that was entered before, at `entry`.
  Recorder(Tracer* tracer, uint64_t entry, uint32_t collective)
      : ring_(tracer->ring()),
        is_wanted_(tracer->wants(collective) && tracer->wants_now()),
        wanted_steps_(tracer->wanted_steps(is_wanted_)),
        entry_(entry),
        last_(entry) {}
  void step_until(uint64_t end, uint32_t kind, uint32_t index, uint64_t bytes) {
    write(end, kind, index, 0, -1, bytes);
  }

  void step(uint32_t kind, uint32_t index, int64_t segment, int32_t peer, uint64_t bytes) {
    write(ticks(), kind, index, segment, peer, bytes);
  }

  struct What {
    uint32_t program;
    uint32_t communicator;
    uint64_t epoch;
    uint64_t bytes;
    uint64_t segment_bytes;
    uint32_t segments;
    uint32_t positions;
    int32_t root;
  };
  void exit(const What& what) {
    if (!is_wanted_) return;
    ring_.write({entry_, ticks(), what.program << 8 | static_cast<uint32_t>(Kind::operation),
                 steps_, static_cast<int32_t>(what.communicator), saturated(what.segment_bytes)});
    ring_.write({what.bytes, what.epoch, what.positions << 8 | static_cast<uint32_t>(Kind::details),
                 what.segments, what.root, 0});
  }

 private:
  void write(uint64_t end, uint32_t kind, uint32_t index, int64_t segment, int32_t peer,
             uint64_t bytes) {
    if (wanted_steps_[kind]) [[likely]] {
      ring_.write(
          {last_, end, index << 8 | kind, static_cast<uint32_t>(segment), peer, saturated(bytes)});
      ++steps_;
    }
    last_ = end;
  }

  Ring& ring_;
  const bool is_wanted_;
  const Tracer::Kinds& wanted_steps_;
  const uint64_t entry_;
  uint64_t last_;
  uint32_t steps_ = 0;
};

// A call that the host MPI served.
struct HostCall {
  uint64_t entry;
  int32_t communicator;  // -1: one that Tutti never set up
  uint32_t collective;
  uint32_t reason;
  uint64_t bytes;
  int32_t root;
};
inline void record_host_call(Tracer& tracer, const HostCall& call) {
  if (!tracer.wants(call.collective) || !tracer.wants_now()) return;
  Ring& ring = tracer.ring();
  ring.write({call.entry, ticks(),
              call.reason << 16 | call.collective << 8 | static_cast<uint32_t>(Kind::host_call), 0,
              call.communicator, 0});
  ring.write({call.bytes, 0, static_cast<uint32_t>(Kind::details), 1, call.root, 0});
}

}  // namespace tutti::trace
