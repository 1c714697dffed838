// The target's side of transfers between nodes: receives requests, moves their data and sends
// replies.
//
// The data of a put is received into a buffer and then stored, so that a request that names memory
// which this process does not have is answered by an error. Memory of the shared heap is reached by
// loads and stores, all other by the system's copies within this process, which find out whether it
// exists. No function waits. One thread at a time.
//
// The pieces of a put that signals may come in any order, and several threads and processes may
// answer them. Each adds the bytes of its piece to the signal after it has stored them. A rank that
// sees the sum of all of them there sees the data.
//
// Where memory has run out, requests are received and answered one after another through spare
// buffers; the others stay with the host.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "rma/message_buffers.h"
#include "rma/pieces.h"
#include "rma/process_mover.h"
#include "rma/wire.h"

namespace tutti::rma {

class Answering {
 public:
  // The wire outlives the object. `targets`: how this process reaches the memory that requests may
  // name, by the number in the request.
  Answering(Wire& wire, std::vector<Peer> targets);
  ~Answering();
  Answering(const Answering&) = delete;

  // True if something was received or sent.
  bool drive() noexcept;
  // True if no request is under way here.
  bool is_idle() const { return answers_.empty(); }
  const std::string& failure() const { return failure_; }
  // So many requests have been answered.
  uint64_t answered() const { return answered_; }

 private:
  struct Answer {
    int client = 0;
    MessageBuffer request, reply;
    Wire::Message message{};   // the message that is received, then the one that is sent
    bool has_arrived = false;  // the request
    bool replies = false;
  };

  bool advance(Answer& answer);
  bool prepare(size_t bytes);
  bool take_new();
  void release(std::list<Answer>::iterator answer);
  // Between a buffer and the memory of a target.
  Code move(const Transfer& transfer) {
    constexpr int buffers = 0;  // the mover's only client
    return mover_.move(transfer, buffers);
  }
  Code move_and_signal(const Transfer& put);
  int reply(Answer& answer);
  void fail(int client, int code);

  Wire& wire_;
  const size_t targets_;
  const std::vector<Peer> peers_;  // the targets, and then the buffers
  ProcessMover mover_;
  MessageBuffers requests_, replies_;
  std::list<Answer> answers_;  // the oldest first
  std::list<Answer> free_;     // without buffers; answers_ and this have one or more
  size_t bytes_ = 0;           // bytes of their messages
  uint64_t answered_ = 0;
  std::string failure_;
};

}  // namespace tutti::rma
