// The steps of a message between nodes: post, send, receive, sent. Internal to src/exec.
//
// Data in one piece goes directly from its source to its destination. Data in several pieces (parts
// in slots, every second block) is packed by its sender and unpacked by its receiver, in memory
// that the channel keeps for the request. The tag is the number of the sending step, which is the
// same at both ends and only grows.
#pragma once

#include "exec/executor.h"

namespace tutti::exec {

class Channel::MessageStep {
 public:
  // The segment of this step.
  struct MessageSegment {
    std::byte* const* base_of;  // indexed by space
    Offsets offsets;
    const plan::Geometry* geometry;  // null where a message is one block of `bytes`
    size_t bytes;                    // bytes of the vector, or of a part, in the segment
    size_t before;                   // bytes of a part in the earlier segments
    bool parts;                      // blocks are parts
    int64_t segment;
    uint64_t number;  // the number from which tags and posts count in this segment
    bool suspends;    // returns would_wait instead of waiting
  };
  MessageStep(Channel& channel, const BoundProgram& bound, const BoundStep& step,
              const Operation& operation, const MessageSegment& segment);

  // Returns in `bytes` how long the message is, for the record. A step that has returned would_wait
  // is run again.
  [[gnu::noinline]] Code run(size_t& bytes);

 private:
  Code run_with(size_t bytes);
  struct Run {
    std::byte* at;
    size_t bytes;
  };
  Run run_of(const BoundPiece& piece) const;
  size_t part_bytes(const BoundPiece& piece) const;
  // True for a part of a v-collective that goes from user's buffer to user's buffer (not by the
  // items of VParts::by_item, which move on).
  bool goes_directly() const {
    return operation_.v_parts != nullptr && operation_.v_parts->by_item == nullptr;
  }
  // Finds out whether all pieces lie side by side, in order. Returns their bytes.
  size_t find_runs();
  void pack(std::byte* to) const;
  void unpack(const std::byte* from) const;
  // True for long messages, which leave one after another (leaving.h).
  bool takes_turns(size_t bytes) const;
  // Waits until the message may begin.
  Code await_turn(size_t bytes);
  Code send(const std::byte* from, size_t bytes, uint64_t tag);
  Code end_send();
  Code wait(size_t request, int32_t peer);
  template <class HasEnded>
  Code wait_slowly(int32_t peer, HasEnded has_ended);
  Code fail();

  Channel& channel_;
  const BoundMessage& message_;
  const BoundPiece* const pieces_;
  const BoundStep& step_;
  const Operation& operation_;
  const MessageSegment& segment_;
  const size_t request_;
  Run whole_{nullptr, 0};
  bool in_one_piece_ = true;
};

}  // namespace tutti::exec
