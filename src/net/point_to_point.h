// Messages between nodes over the host MPI's point-to-point calls, on a communicator that carries nothing else.
//
// One object a communicator, made by its set-up and ended with it; the private communicator is the object's. Compiled with
// each interposer, against its MPI (abi.h). Tags are the executor's numbers, cut to what the host's tags can hold: two
// messages of one pair that are under way at once never differ by so much. One thread at a time.
#pragma once

#include <string>
#include <vector>

#include "exec/net.h"
#include "net/abi.h"

namespace tutti::net {

// The host's functions, as the interposer found them.
struct Calls {
  decltype(&PMPI_Isend) Isend;
  decltype(&PMPI_Irecv) Irecv;
  decltype(&PMPI_Test) Test;
  decltype(&PMPI_Comm_free) Comm_free;
};

class PointToPoint final : public exec::Net {
 public:
  // Errors of the communicator must come back as codes. `largest_tag`: the host's MPI_TAG_UB.
  PointToPoint(const Calls& calls, MPI_Comm communicator, MPI_Datatype byte, int largest_tag, std::vector<int32_t> machine_nodes);
  ~PointToPoint() override;
  PointToPoint(const PointToPoint&) = delete;

  MPI_Comm& communicator() { return communicator_; }

  void reserve(size_t count) override;
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
  // One number of the executor's: a message of more bytes than the host's counts hold goes as several.
  struct UnderWay {
    std::vector<MPI_Request> pieces;
    size_t done = 0;
    int peer = 0;
    bool sends = false;
  };
  template <class Begin>
  bool begin(size_t request, size_t bytes, int rank, bool sends, Begin begin_piece);
  int tag_of(uint64_t tag) const { return static_cast<int>(tag % tags_); }
  bool fail(const UnderWay& message, int code);

  Calls calls_;
  MPI_Comm communicator_;
  MPI_Datatype byte_;
  uint64_t tags_;
  std::vector<int32_t> machine_nodes_;  // by rank: its node, whether or not that shares memory; this rank's is the last
  std::vector<UnderWay> requests_;
  Sent across_, within_;
  std::string failure_;
};

}  // namespace tutti::net
