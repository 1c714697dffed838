// Messages of Tutti's own between ranks inside MPI_Init and MPI_Finalize, which may be slow but
// end: a rank waits for no process of its node that has died, and says whom it waits for too long.
//
// One thread uses an object, on a private communicator that outlives it.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "base/error.h"
#include "mpi/host/host.h"

namespace tutti::mpi {

class Messages {
 public:
  static constexpr size_t piece = size_t{1} << 22;  // the limit for the bytes of one message

  explicit Messages(Comm communicator) : communicator_(communicator) {}

  // `has_died`: whether a rank is one of this node's whose process has ended. At first nobody is.
  void know_who_died(std::function<bool(int rank)> has_died) { has_died_ = std::move(has_died); }

  // Both throw Error(dead_peer) if the other rank has died, and Error(unavailable) if the wait has
  // taken as long as the watchdog allows and TUTTI_STALL=abort.
  void send(const void* bytes, size_t count, int to);
  void receive(void* bytes, size_t count, int from);

 private:
  Code await(Request& request, int peer);

  Comm communicator_;
  std::function<bool(int)> has_died_ = [](int) { return false; };
};

}  // namespace tutti::mpi
