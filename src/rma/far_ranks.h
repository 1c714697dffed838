// Transfers of a rank with the ranks of a group whose memory it does not reach: ranks of other
// nodes. They travel as messages (src/mpi/one_sided/between_nodes.h), which is why this interface
// has no MPI in it. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "rma/process_mover.h"
#include "rma/transfer.h"
#include "shm/order.h"

namespace tutti::rma {

// How a transfer ended; `why` is one line if it failed.
struct Outcome {
  Code code = Code::ok;
  std::string why{};
};

class FarRanks {
 public:
  virtual ~FarRanks() = default;

  // Starts a transfer with a rank of the group (`transfer.target` is not read). Returns its number,
  // by which it is outstanding, or 0 if it has no data. If most_outstanding() are outstanding, the
  // transfer is complete when start returns, and *outcome is then how it ended. Throws
  // Error(invalid_argument) if it goes beyond the end of the rank's heap, and
  // Error(unavailable, dead_peer) if the host's messages fail.
  virtual uint64_t start(const Transfer& transfer, int rank, Outcome* outcome) = 0;
  // The rank's heap, in which puts that signal have their data and their signal.
  virtual Extent heap(int rank) const = 0;
  // True if the completion of the transfer was not told yet.
  virtual bool is_outstanding(uint64_t number) = 0;
  // True if the transfer is complete; *outcome is then how it ended, and it is not outstanding any
  // more. It must be outstanding.
  virtual bool test(uint64_t number, Outcome* outcome) = 0;
  virtual Outcome wait(uint64_t number) = 0;
  // Returns how the first one ended that failed.
  virtual Outcome wait_for_all() = 0;
  // Returns when a word of this rank's, to which puts signal, is at least `least`.
  virtual Outcome wait_for_signal(const shm::Word& signal, uint64_t least) = 0;
  // Sends, receives and answers what it can without waiting.
  virtual void drive() = 0;
  virtual size_t most_outstanding() const = 0;
};

}  // namespace tutti::rma
