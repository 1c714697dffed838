// The target's side of transfers between nodes: receives requests, moves their data and sends
// replies.
//
// The data of a put is received into a buffer and then stored, so that a request that names memory
// which this process does not have is answered by an error. Memory of the shared heap is reached by
// loads and stores, all other by the system's copies within this process, which find out whether it
// exists. No function waits. One thread at a time, which is inside Tutti (Inside).
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "mpi/host/host.h"
#include "mpi/one_sided/message_buffers.h"
#include "mpi/one_sided/pieces.h"
#include "rma/process_mover.h"

namespace tutti::mpi {

class Answering {
 public:
  // The communicator returns errors as codes, and outlives the object. `heap`: this process's.
  Answering(Comm communicator, const rma::Extent& heap);
  ~Answering();
  Answering(const Answering&) = delete;

  // True if something was received or sent.
  bool drive();
  // True if no request is under way here.
  bool is_idle() const { return answers_.empty(); }
  const std::string& failure() const { return failure_; }
  // So many requests have been answered.
  uint64_t answered() const { return answered_; }

 private:
  struct Answer {
    int client = 0;
    MessageBuffer request, reply;
    Request message{};  // the message that is received, then the one that is sent
    bool replies = false;
  };

  bool advance(Answer& answer);
  bool take_new();
  void release(Answer& answer);
  int reply(Answer& answer);
  void fail(int client, int code);

  const Comm communicator_;
  const std::vector<rma::Peer> peers_;  // first the buffers, then this process as the target
  rma::ProcessMover mover_;
  MessageBuffers buffers_;
  std::list<Answer> answers_;  // the oldest first
  size_t bytes_ = 0;           // bytes of their messages
  uint64_t answered_ = 0;
  std::string failure_;
};

}  // namespace tutti::mpi
