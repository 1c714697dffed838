// The long messages of a rank to other nodes that are under way in an operation, and which of them
// the next one waits for. Internal to src/exec.
//
// Messages that are under way at once share the link of their node, so the first of them arrives
// together with the last, and whoever should pass it on begins late. Therefore a long message
// begins when the earlier ones have left, up to most_leaving bytes. It waits only for messages
// whose receivers post them by a transfer of a smaller number, so the argument that excludes
// deadlock holds (docs/decisions/messages-in-the-one-order.md).
//
// A channel owns one; one thread. It allocates until it has held the most messages of a program.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/semantics.h"

namespace tutti::exec {

class LeavingMessages {
 public:
  struct Message {
    size_t request;
    int32_t peer;
    size_t bytes;
    uint64_t posted;  // the number of the transfer by which the receiver posts it
    bool ended = false;
  };

  // The message that must end before one of `bytes` bytes begins by a step of number `number`, the
  // oldest first; null if it may begin. The caller notes the end in it.
  Message* awaited(size_t bytes, uint64_t number) {
    size_t together = bytes;
    for (const Message& one : messages_) together += one.ended ? 0 : one.bytes;
    if (together <= plan::most_leaving) return nullptr;
    for (Message& one : messages_)
      if (!one.ended && one.posted < number) return &one;
    return nullptr;
  }
  void begin(const Message& message) { messages_.push_back(message); }
  // Removes a message by the step that ends it. True if it has been noted as ended.
  bool remove(size_t request) {
    const auto found = find(request);
    if (found == messages_.end()) return false;
    const bool ended = found->ended;
    messages_.erase(found);
    return ended;
  }
  // True if a message that is here has been noted as ended.
  bool has_ended(size_t request) {
    const auto found = find(request);
    return found != messages_.end() && found->ended;
  }

 private:
  std::vector<Message>::iterator find(size_t request) {
    return std::find_if(messages_.begin(), messages_.end(),
                        [&](const Message& one) { return one.request == request; });
  }

  std::vector<Message> messages_;  // in the order of their beginnings
};

}  // namespace tutti::exec
