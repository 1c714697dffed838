// A reduce in the order of arrival: one step of one rank, from its first source to its last.
//
// It combines the sources that have arrived, and then waits for the first of the others to arrive.
// While only one source has arrived, it moves nothing: it combines that source with the next one
// directly into the destination. It lives on the stack of the executing rank.
#pragma once

#include <vector>

#include "exec/executor.h"

namespace tutti::exec {

class Channel::ArrivalReduce {
 public:
  // The segment of this step.
  struct ReducedSegment {
    std::byte* const* base_of;  // indexed by space
    const std::byte* lines;     // rank 0's first line of the operation
    Offsets offsets;
    size_t bytes;   // bytes of every operand; may be 0
    uint64_t base;  // the number from which the arrivals' offsets count
  };
  // The recorder of its waits and combinations; null if nothing is recorded.
  struct Record {
    trace::Recorder* recorder;
    int64_t segment;
  };
  ArrivalReduce(Channel& channel, const BoundProgram& bound, const BoundStep& step,
                const Operation& operation, const ReducedSegment& segment, const Record& record);
  ArrivalReduce(const ArrivalReduce&) = delete;

  // Returns when all sources have been combined, or when a wait has failed.
  [[gnu::noinline]] Code run();
  // The same, but moves nothing and returns would_wait while a source has not arrived.
  [[gnu::noinline]] Code run_if_arrived();

 private:
  static constexpr int most_inline = 64;  // sources; more are gathered on the heap

  std::byte* address(uint32_t operand) const;
  Awaited awaited(const BoundArrival& arrival) const;
  bool is_of_other_call(const Awaited& seen) const;
  void make_room();
  void sort_sources();
  Code take_arrived();
  Code combine_all();
  void combine_taken();
  Code wait_for_next();

  Channel& channel_;
  const BoundProgram& bound_;
  const BoundStep& step_;
  const Operation& operation_;
  const ReducedSegment& segment_;
  const Record& record_;
  std::byte* const dst_;
  const int sources_;
  bool started_ = false;   // dst holds a partial result
  bool combined_ = false;  // something, since the last wait
  int taken_count_ = 0;    // sources that are there and not yet combined
  int pending_count_ = 0;  // sources that are not yet there

  // Arrays of a source each; room for dst on both sides of what is taken.
  const void* few_taken_[most_inline + 2];
  const void* few_pending_[most_inline];
  Awaited few_awaited_[most_inline];
  std::vector<const void*> many_sources_;
  std::vector<Awaited> many_awaited_;
  const void** taken_ = few_taken_ + 1;
  const void** pending_ = few_pending_;
  Awaited* awaited_ = few_awaited_;  // the word or line that makes each pending source ready
};

}  // namespace tutti::exec
