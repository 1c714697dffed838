// Programs of records: what one rank does in an operation that it starts and completes in separate
// calls.
//
// At its start a rank puts the blocks of its `in` that other ranks read into its record, and
// publishes the record. It owes the other ranks nothing after that. At its completion it takes its
// results from the records of the ranks that have data for it. So a start waits for no rank, and a
// completion waits only until other ranks have started the operation
// (docs/decisions/records.md).
//
// A plan fits records if no rank reads the result of another rank's reduction. Copies may go
// through any number of ranks: every block that a copy moves is some block of some rank's `in`, and
// a rank reads it there, in the record of that rank. Tokens order execution alone, so these
// programs have none.
//
// Plain data, constant once made; any thread may read it.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace tutti::plan {

// A source of a take: a block of a rank's record, or a block of this rank's own buffers.
struct TakeSource {
  int32_t rank = -1;  // the rank whose record it is; -1: this rank's own buffer
  int32_t block = 0;  // the block's number in the rank's `in`, or in `buffer` if the rank is -1
  int32_t place = 0;  // the block's place in the record
  Buffer buffer = Buffer::out;  // `out` or `tmp`, where an earlier take has written
  int32_t awaited = -1;         // the rank's index in RecordProgram::awaits; -1: this rank
  bool operator==(const TakeSource&) const = default;
};

// A block of this rank that is copied from its source, or reduced from its sources in this order.
struct Take {
  Buffer buffer = Buffer::out;  // `out` or `tmp`
  int32_t block = 0;
  int32_t first_source = 0;  // in RecordProgram::sources
  int32_t source_count = 1;  // 1: a copy
};

struct RecordProgram {
  Collective collective{};
  int32_t ranks = 1;
  int32_t rank = 0;
  int32_t root = 0;
  int32_t blocks = 1;      // as in the plan
  int32_t tmp_blocks = 0;  // the blocks of this rank's `tmp`
  bool parted = false;     // the blocks of user buffers are parts
  // The blocks of this rank's `in` that some rank reads, rising. A record holds them in this order.
  std::vector<int32_t> gives;
  // Those of `gives` that other ranks read. The others are read by this rank alone.
  std::vector<bool> given_to_others;
  std::vector<Take> takes;
  std::vector<TakeSource> sources;
  // The ranks whose records this rank reads or awaits, rising, without itself, and how many blocks
  // the record of each has.
  std::vector<int32_t> awaits;
  std::vector<int32_t> awaited_blocks;
  int32_t read_by = 0;  // how many other ranks await this one
  // Neither more ranks nor more sources of one take than few, and all sources are in records.
  static constexpr size_t few = 16;
  bool is_simple = false;
  bool reads_own = false;  // some take has a block of this rank's `in`

  // Sets the properties that follow from the takes, their sources and `awaits`.
  void note_properties();
};

// The programs of all ranks, by rank. Throws Error(invalid_plan) that names the transfer at
// fault if the plan does not fit records. The plan is well formed and correct (validate, check).
std::vector<RecordProgram> make_record_program(const Plan& plan);

}  // namespace tutti::plan
