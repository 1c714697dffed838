// A wire: carries the messages of transfers between nodes. In MPI programs it is a communicator of
// the host's (mpi/one_sided/host_wire.h), in tests a table with a lock (test_wires.h). Each wire
// has two or more ends, which are ranks on it. One thread at a time uses an end, and no function
// waits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::rma {

class Wire {
 public:
  // A message under way; the memory of the message stays until it is over.
  using Message = uint64_t;
  // A message that has come and that nobody has asked for yet.
  struct Found {
    int rank = -1;  // its sender; -1: none has come
    size_t bytes = 0;
  };
  static constexpr int success = 0;

  virtual ~Wire() = default;
  // The most data that one message carries well.
  virtual size_t most_piece() const = 0;
  // Each returns `success`, or a number that says why the wire has failed.
  virtual int receive(void* to, size_t bytes, int rank, int tag, Message* message) = 0;
  virtual int send(const void* from, size_t bytes, int rank, int tag, Message* message) = 0;
  virtual int test(Message* message, bool* done) = 0;
  virtual int probe(int tag, Found* found) = 0;
};

}  // namespace tutti::rma
