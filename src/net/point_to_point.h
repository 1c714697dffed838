// Messages between nodes, by the host MPI's point-to-point calls on a communicator that carries
// nothing else.
//
// Each served communicator has one object, which its set-up makes and which ends with it, and one
// for each of its lanes. The maker of the object owns the private communicator and frees it later.
// Tags are the executor's message numbers modulo the number of the object's tags: two messages of
// one pair that are in flight at once never differ by so much. One thread at a time.
//
// A message that the host sends without the receiver's request (prompt) is sent from a copy and
// counts as sent at once. Some hosts complete such a send only after the receiver has answered
// (MPICH over libfabric's TCP, from some hundred bytes on), and a rank that waited for that would
// return a round trip late. The copies are bounded; beyond the bound a message is sent from the
// user's memory. So is a longer message, which needs its sender until it is complete: if the sender
// returned earlier, others would wait until its program next calls MPI.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "placement/periodic_row.h"
#include "exec/net.h"
#include "mpi/host/host.h"

namespace tutti::net {

// The tags of an object's messages: `count` of them, from `first` on. Objects that share a
// communicator have tags of their own.
struct Tags {
  int first = 0;
  int count = 1;
};

class PointToPoint final : public exec::Net {
 public:
  // The communicator must return errors as codes. `machine_nodes`: by rank, the node of the
  // machine, whether or not its ranks share memory.
  PointToPoint(mpi::Comm communicator, Tags tags, placement::PeriodicRow machine_nodes,
               int own_rank);
  ~PointToPoint() override;
  PointToPoint(const PointToPoint&) = delete;

  mpi::Comm communicator() const { return communicator_; }

  void reserve(size_t count) override;
  size_t prompt() const override {
    return mpi::abi.is_open_mpi ? exec::prompt_of_openmpi : exec::prompt_of_others;
  }
  size_t most_without_driving() const override {
    return mpi::abi.is_open_mpi ? exec::prompt_of_openmpi : SIZE_MAX;
  }
  bool is_far(int rank) const override {
    return machine_nodes_[static_cast<size_t>(rank)] != own_node_;
  }
  bool receive(size_t request, void* to, size_t bytes, int rank, uint64_t tag) override;
  bool send(size_t request, const void* from, size_t bytes, int rank, uint64_t tag) override;
  State test(size_t request) override;
  std::string failure() const override { return failure_; }
  bool all_have_left() override;

  // The messages that this rank has sent so far: to ranks of other nodes of the machine, and to
  // ranks of its own node.
  struct Sent {
    uint64_t messages = 0, bytes = 0;
  };
  const Sent& sent_between_nodes() const { return between_nodes_; }
  const Sent& sent_within_node() const { return within_node_; }

 private:
  // A message that is sent from a copy.
  struct Copy {
    std::vector<char> data;
    mpi::Request request;
  };
  // A message in flight, by the executor's request number. It is several messages of the host if it
  // has more bytes than the host's counts hold.
  struct InFlight {
    std::vector<mpi::Request> pieces;
    size_t done = 0;
    int peer = 0;
    bool sends = false;
  };
  // Forgets the copies that have left.
  void clear_copies();
  // Null if the message is longer than prompt() or the copies are at their bound.
  Copy* take_copy(const void* from, size_t bytes);
  template <class Begin>
  bool begin(size_t request, size_t bytes, int rank, bool sends, Begin begin_piece);
  int tag_of(uint64_t tag) const {
    return tags_.first + static_cast<int>(tag % static_cast<uint64_t>(tags_.count));
  }
  bool fail(const InFlight& message, int code);

  mpi::Comm communicator_;
  const Tags tags_;
  const placement::PeriodicRow machine_nodes_;
  const int32_t own_node_;
  std::vector<InFlight> requests_;
  std::deque<Copy> copies_;              // in flight, the oldest first
  std::vector<std::vector<char>> free_;  // memory for the next copies
  size_t copied_bytes_ = 0;
  Sent between_nodes_, within_node_;
  std::string failure_;
};

}  // namespace tutti::net
