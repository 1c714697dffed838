// Who tells where ranks wait when a wait has taken as long as the watchdog allows
// (TUTTI_STALL_SECONDS): in a job of MPI the roll call (mpi/roll), in one table for all ranks;
// where there is none, each rank that waits, in lines of its own. Set while MPI begins and ends;
// any thread reads it.
#pragma once

#include "shm/order.h"

namespace tutti::exec {

inline constinit shm::Word roll_is_called{0};  // 1: the roll call tells it

}  // namespace tutti::exec
