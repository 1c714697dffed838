// An endpoint: the end of a server on a wire of its own, on which it meets the servers of other
// nodes. The server starts transfers for clients of its node there, and answers those of other
// nodes' clients for the ranks of its own.
//
// Each process that has a server has its endpoint, also while the server does not run: others may
// still ask. So whoever has the endpoint drives it. The server takes it for as long as it runs;
// meanwhile driving by others does nothing. Any thread may drive; one does at a time.
//
// Source: "Exploiting Communication Concurrency", section 3: servers initiate and retire the
// messages, so as many are initiated at once as there are servers.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "rma/answering.h"
#include "rma/asking.h"
#include "rma/process_mover.h"
#include "rma/wire.h"
#include "shm/order.h"

namespace tutti::rma {

class Endpoint {
 public:
  // The rank of the wire that answers for a rank of the job, and the number by which it knows it.
  struct Way {
    int32_t answers = -1;  // -1: nobody
    int32_t number = 0;
  };
  // The memory of the node's processes as this one reaches it, indexed by their numbers: for the
  // caller's side of transfers, and for requests, whose addresses may be wrong.
  struct Memory {
    std::vector<Peer> callers, targets;
  };
  // The wire outlives the endpoint. `ways`: indexed by rank of the job.
  Endpoint(Wire& wire, const Window& window, std::vector<Way> ways, Memory memory)
      : ways_(std::move(ways)),
        callers_(std::move(memory.callers)),
        asking_(wire, window, true),
        answering_(wire, std::move(memory.targets)) {}
  Endpoint(const Endpoint&) = delete;

  // For the server, from its start to its end.
  void take() { shm::publish(taken_, 1); }
  void give_back() { shm::publish(taken_, 0); }
  // Starts a transfer with another node. `here` is the caller's side, where the server has it; its
  // blocks lie `stride` bytes apart. False if the wire has failed, which then carries nothing.
  // Throws bad_alloc, and has then started nothing.
  bool start(const Transfer& transfer, std::byte* here, int64_t stride, uint64_t label);
  // Where the server has the caller's side of a transfer of a client; null: it does not reach it.
  std::byte* here(const Transfer& transfer, size_t client) const;
  // Sends, receives and answers without waiting. True if something has moved. Then tells the labels
  // of the transfers that are over, and how they ended.
  template <class Tell>
  bool drive(Tell tell) {
    const std::lock_guard lock(mutex_);
    const bool moved = drive_all();
    for (const uint64_t number : asking_.list_of_over()) {
      const uint64_t label = asking_.label(number);
      tell(label, asking_.take(number).code);
    }
    asking_.list_of_over().clear();
    return moved;
  }

  // For others. Does nothing while a server has the endpoint. True if something has moved.
  bool drive_without_server();
  bool is_taken() const { return shm::observe(taken_) != 0; }
  // True if no message is under way here.
  bool is_idle();
  uint64_t answered() const { return shm::load_relaxed(answered_); }

 private:
  bool drive_all();

  const std::vector<Way> ways_;
  const std::vector<Peer> callers_;
  shm::Word taken_{0};
  shm::Word answered_{0};
  std::mutex mutex_;  // guards all below
  Asking asking_;
  Answering answering_;
};

}  // namespace tutti::rma
