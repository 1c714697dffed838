// Messages between nodes over the host MPI's point-to-point calls, on a communicator that carries
// nothing else.
//
// One object a communicator, made by its set-up and ended with it; the private communicator is the
// object's. Compiled with each interposer, against its MPI (abi.h). Tags are the executor's
// numbers, cut to what the host's tags can hold: two messages of one pair that are under way at
// once never differ by so much. One thread at a time.
//
// A message that the host sends unasked (prompt) goes from a copy and counts as sent at once:
// whether a host calls its own sends complete before the receiver has answered is its affair (MPICH
// over libfabric's TCP does not, from some hundred bytes on), and a rank that waited for that would
// return a round trip late. The copies are bounded; beyond, a message goes from where it is. So
// does a longer one, which needs its sender until it is through: who left it under way would make
// others wait until its program next calls MPI.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "placement/periodic_row.h"
#include "exec/net.h"
#include "net/abi.h"

namespace tutti::net {

// The host's functions, as the interposer found them.
struct Calls {
  decltype(&PMPI_Isend) Isend;
  decltype(&PMPI_Irecv) Irecv;
  decltype(&PMPI_Test) Test;
  decltype(&PMPI_Wait) Wait;
  decltype(&PMPI_Comm_free) Comm_free;
};

class PointToPoint final : public exec::Net {
 public:
  // Errors of the communicator must come back as codes. `largest_tag`: the host's MPI_TAG_UB.
  // `machine_nodes`: by rank, its node, whether or not that shares memory.
  PointToPoint(const Calls& calls, MPI_Comm communicator, MPI_Datatype byte, int largest_tag,
               placement::PeriodicRow machine_nodes, int own_rank);
  ~PointToPoint() override;
  PointToPoint(const PointToPoint&) = delete;

  MPI_Comm& communicator() { return communicator_; }

  void reserve(size_t count) override;
  // Open MPI's TCP asks from 64 KiB on, its header included; MPICH's never.
  size_t prompt() const override { return size_t{mpi::abi == mpi::Abi::openmpi ? 32 : 64} << 10; }
  bool receive(size_t request, void* to, size_t bytes, int rank, uint64_t tag) override;
  bool send(size_t request, const void* from, size_t bytes, int rank, uint64_t tag) override;
  State test(size_t request) override;
  std::string failure() const override { return failure_; }

  // What this rank has sent so far: to ranks of the machine's other nodes, and to those of its own.
  struct Sent {
    uint64_t messages = 0, bytes = 0;
  };
  const Sent& sent_across() const { return across_; }
  const Sent& sent_within() const { return within_; }

 private:
  // A message that goes from a copy.
  struct Copy {
    std::vector<char> data;
    MPI_Request request;
  };
  // One number of the executor's: a message of more bytes than the host's counts hold goes as
  // several.
  struct UnderWay {
    std::vector<MPI_Request> pieces;
    size_t done = 0;
    int peer = 0;
    bool sends = false;
  };
  // Null where there are as many copies under way as may be.
  Copy* take_copy(const void* from, size_t bytes);
  template <class Begin>
  bool begin(size_t request, size_t bytes, int rank, bool sends, Begin begin_piece);
  int tag_of(uint64_t tag) const { return static_cast<int>(tag % tags_); }
  bool fail(const UnderWay& message, int code);

  Calls calls_;
  MPI_Comm communicator_;
  MPI_Datatype byte_;
  uint64_t tags_;
  const placement::PeriodicRow machine_nodes_;
  const int32_t own_node_;
  std::vector<UnderWay> requests_;
  std::deque<Copy> copies_;              // under way, the oldest first
  std::vector<std::vector<char>> free_;  // memory for the next ones
  size_t copied_bytes_ = 0;
  Sent across_, within_;
  std::string failure_;
};

}  // namespace tutti::net
