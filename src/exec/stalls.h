// A wait that has taken as long as the watchdog allows (TUTTI_STALL_SECONDS) is told by the roll
// call in a job of MPI (mpi/roll), in one table for all ranks. Where there is no roll call, each
// rank that waits says it in lines of its own. Set while MPI begins and ends; any thread reads it.
#pragma once

#include "shm/order.h"

namespace tutti::exec {

inline constinit shm::Word roll_is_called{0};  // 1: the roll call tells it

}  // namespace tutti::exec
