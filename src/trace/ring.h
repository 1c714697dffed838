// A ring of records: what one thread of a rank did lately, and how much older has been lost.
//
// A ring belongs to one thread at a time, which alone writes it. It is read when nobody writes any
// more (at finalize). All of its memory is taken, and touched, when it is made: writing a record
// neither allocates nor faults.
//
// Records. An operation leaves one record a step, in the order of execution, then a pair that says
// what the operation was: `operation` (or `host_call`) and, right behind it, `details`. The pair
// stands at the end because only then the exit is known, and so that what is left of an operation
// whose beginning was lost can be told: it says how many records belong to it. A persistent
// collective writes all of its own at its completion, so that those of what the thread does
// meanwhile stand before them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tutti::trace {

// What stands in the lower 8 bits of Record::what: a step kind's number in the file's table of step
// kinds, or one of these.
enum class Kind : uint8_t {
  elsewhere = 0xFA,  // a step of a persistent collective: the program went on between its start and
                     // its completion
  wait_arrival =
      0xFB,          // in a step that takes its sources as they come: it waited; `peer` came first
  make_room = 0xFC,  // the operation waited, before its first step, until slow ranks had read what
                     // it will overwrite
  host_call = 0xFD,
  operation = 0xFE,
  details = 0xFF,
};

// Plain words, written into the file as they are (little-endian). By kind:
//   steps      begin, end   ticks
//              what >> 8    the step's index in the program
//              segment      of the message
//              peer         the rank waited for, in the communicator; -1: none
//              bytes        moved or reduced; UINT32_MAX: that or more
//   operation  begin, end   ticks of entry and exit
//              what >> 8    number of the program in this rank's table
//              segment      how many records before this one belong to it
//              peer         number of the communicator in this rank's table
//              bytes        length of a segment in bytes, saturated
//   host_call  the same, but what >> 8 is reason << 8 | collective, and nothing belongs to it; peer
//   may be -1 details    begin        bytes of the call's vector
//              end          epoch: running number of the operation on its communicator, from 0
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

class Ring {
 public:
  // Throws Error(unavailable) where there is no memory for them. At least least_records.
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

  // What the ring holds, oldest first: all of the first part, then all of the second.
  struct Contents {
    std::span<const Record> first, second;
    uint64_t lost;  // older ones that were overwritten
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
