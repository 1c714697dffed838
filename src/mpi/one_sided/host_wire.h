// A wire of the host MPI's: point-to-point messages on a communicator that carries nothing else.
// The communicator returns errors as codes, and outlives the wire. The calling thread is inside
// Tutti (Inside).
#pragma once

#include "mpi/host/host.h"
#include "rma/pieces.h"
#include "rma/wire.h"

namespace tutti::mpi {

inline size_t most_piece() { return rma::most_piece_of(abi.is_open_mpi); }

class HostWire final : public rma::Wire {
 public:
  explicit HostWire(Comm communicator) : communicator_(communicator) {}

  size_t most_piece() const override { return mpi::most_piece(); }
  int receive(void* to, size_t bytes, int rank, int tag, Message* message) override {
    Request request{};
    const int code = host().Irecv(to, static_cast<int>(bytes), host().type_byte, rank, tag,
                                  communicator_, &request);
    *message = static_cast<Message>(request);
    return code;
  }
  int send(const void* from, size_t bytes, int rank, int tag, Message* message) override {
    Request request{};
    const int code = host().Isend(from, static_cast<int>(bytes), host().type_byte, rank, tag,
                                  communicator_, &request);
    *message = static_cast<Message>(request);
    return code;
  }
  int test(Message* message, bool* done) override {
    Request request{*message};
    int flag = 0;
    const int code = host().Test(&request, &flag, abi.status_ignore);
    *message = static_cast<Message>(request);
    *done = flag != 0;
    return code;
  }
  int probe(int tag, Found* found) override {
    int flag = 0, bytes = 0;
    Status status;
    int code = host().Iprobe(abi.any_source, tag, communicator_, &flag, &status);
    if (code != success || flag == 0) return code;
    code = host().Get_count(&status, host().type_byte, &bytes);
    *found = {.rank = source_of(status), .bytes = static_cast<size_t>(bytes)};
    return code;
  }

 private:
  const Comm communicator_;
};
static_assert(rma::Wire::success == success);

}  // namespace tutti::mpi
