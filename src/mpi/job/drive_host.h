// Progress of the host's messages, and of one-sided transfers between nodes, while a rank waits for
// something else. A server drives transfers by itself. Any thread.
#pragma once

#include "mpi/host/host.h"
#include "mpi/host/inside.h"
#include "mpi/job/self.h"
#include "mpi/progress/host_waits.h"
#include "shm/order.h"

namespace tutti::mpi {

// The function that drives transfers between nodes, as a number; 0: this process has none.
inline constinit shm::Word transfers_driver{0};
inline void drive_transfers_by(bool (*drive)()) {
  shm::publish(transfers_driver, reinterpret_cast<uint64_t>(drive));
}
inline void stop_driving_transfers() { shm::publish(transfers_driver, 0); }
// Returns whether something has moved.
inline bool drive_transfers() {
  const uint64_t drive = shm::observe(transfers_driver);
  return drive != 0 && reinterpret_cast<bool (*)()>(drive)();
}

// Lets the host's messages progress, by a call that finds nothing. Between MPI's begin and its end.
inline void drive_messages() {
  int flag = 0;
  const Inside inside;
  host().Iprobe(0, 0, self_communicator(), &flag, abi.status_ignore);
}
// And the transfers, in a call of the program's that waits. `drive_messages` makes the host's
// messages progress; returns whether something is known to have moved.
inline bool drive_host(const auto& drive_messages) {
  const uint32_t before = host_wait.progressed();
  host_wait.begin_own_poll();
  drive_messages();
  host_wait.end_own_poll();
  const bool moved = drive_transfers();
  return host_wait.progressed() != before || moved;
}
inline bool drive_host() { return drive_host(drive_messages); }

}  // namespace tutti::mpi
