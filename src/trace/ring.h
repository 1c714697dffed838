// A ring of records: the newest steps and operations of one thread of a rank, and how many older
// ones were lost.
//
// A ring belongs to one thread at a time, or to a lane (exec/lane.h), and only its owner writes it.
// It is read when no thread writes any more (in MPI_Finalize). It takes and touches all of its
// memory when it is made, so that writing a record neither allocates nor faults.
//
// Records. An operation leaves one record for each step, in the order of execution, and then a pair
// of records that describes the operation: `operation` (or `host_call`), and right behind it
// `details`. The pair stands at the end because the time of the exit is known only then. It says
// how many records belong to the operation, so that a reader notices where some of them were lost.
// A persistent collective writes all of its records at its completion, so the thread's records of
// the time between start and completion stand before them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tutti::trace {

// The lower 8 bits of Record::what: the number of a step kind in the file's table of step kinds, or
// one of these.
enum class Kind : uint8_t {
  elsewhere = 0xFA,
  wait_arrival = 0xFB,
  make_room = 0xFC,
  host_call = 0xFD,
  operation = 0xFE,
  details = 0xFF,
};

// The kinds of records that are like steps but stand in no plan's program. The file's table of step
// kinds has them beside the plans' own.
struct KindProperties {
  Kind kind;
  std::string_view name;
  std::string_view group;
  std::string_view operands;
  std::string_view meaning;
};
inline constexpr KindProperties kinds_beside_steps[] = {
    {Kind::wait_arrival, "wait_arrival", "waiting", "peer that came first",
     "inside a reduce_any: wait until one more source is there"},
    {Kind::make_room, "wait_room", "waiting", "",
     "before the first step: wait until slow ranks have read what the operation will overwrite"},
    {Kind::elsewhere, "elsewhere", "elsewhere", "",
     "between start and completion of a persistent collective: the program did other things"},
};

// A record is plain words, which go into the file as they are (little-endian). Their meaning, by
// kind:
//   steps      begin, end   ticks
//              what >> 8    the step's index in the program
//              segment      of the message
//              peer         the rank waited for, in the communicator; -1: none
//              bytes        moved or reduced; UINT32_MAX: that or more
//   operation  begin, end   ticks of entry and exit
//              what >> 8    number of the program in this rank's table
//              segment      how many records before this one belong to the operation
//              peer         number of the communicator in this rank's table
//              bytes        length of a segment in bytes; UINT32_MAX: that or more
//   host_call  as operation, but no record belongs to it, and
//              what >> 8    reason << 8 | collective
//              peer         may be -1
//   details    begin        bytes of the call's vector
//              end          epoch: running number of the operation on its communicator, from 0, or
//                           from 2^31 if the ranks of a node run it among themselves, or from
//                           first_epoch_of_lane() in a lane
//              what >> 8    ring positions that the operation's segments took
//              segment      number of segments
//              peer         root; 0 where there is none
struct Record {
  uint64_t begin;
  uint64_t end;
  uint32_t what;
  uint32_t segment;
  int32_t peer;
  uint32_t bytes;
};
static_assert(sizeof(Record) == 32);

inline constexpr size_t least_records = 1024;

// The lanes of a communicator are numbered alike at all of its ranks. The epochs of collectives by
// records, from 2^52 on, are larger.
inline constexpr uint64_t first_epoch_of_lanes = uint64_t{1} << 51;
constexpr uint64_t first_epoch_of_lane(size_t lane) {
  return first_epoch_of_lanes + (static_cast<uint64_t>(lane) << 40);
}

class Ring {
 public:
  // Makes room for `records`, or for least_records if that is more. Throws Error(unavailable) where
  // there is no memory for them.
  explicit Ring(size_t records);
  ~Ring();
  Ring(const Ring&) = delete;

  void write(const Record& record) {
    *next_ = record;
    if (++next_ == end_) [[unlikely]] {
      next_ = begin_;
      ++laps_;
    }
  }

  // The records in the ring, oldest first: those of the first part, then those of the second.
  struct Contents {
    std::span<const Record> first, second;
    uint64_t lost;  // older records that were overwritten
    size_t size() const { return first.size() + second.size(); }
  };
  Contents contents() const;

 private:
  Record* next_;
  Record* begin_;
  Record* end_;
  uint64_t laps_ = 0;
};

inline uint32_t saturated(uint64_t value) {
  return value < UINT32_MAX ? static_cast<uint32_t>(value) : UINT32_MAX;
}

}  // namespace tutti::trace
