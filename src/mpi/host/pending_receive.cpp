#include "mpi/host/pending_receive.h"

#include "mpi/host/inside.h"
#include "mpi/host/ranks.h"

namespace tutti::mpi {
PendingReceive::PendingReceive(PrivateCommunicator communicator)
    : communicator_(std::move(communicator)) {
  const Comm own = communicator_.get();
  if (communicator_) host().Irecv(nullptr, 0, host().type_byte, rank_in(own), 0, own, &request_);
}

void PendingReceive::ask() const {
  int flag = 0;
  if (communicator_) host().Request_get_status(request_, &flag, abi.status_ignore);
}

void PendingReceive::reset() noexcept {
  if (communicator_ && may_free_handles()) {
    const Inside inside;
    const Comm own = communicator_.get();
    host().Send(nullptr, 0, host().type_byte, rank_in(own), 0, own);
    host().Wait(&request_, abi.status_ignore);
  }
  communicator_.reset();
}

}  // namespace tutti::mpi
