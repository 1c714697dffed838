// How a rank ends a job for Tutti's reasons, on the thread that found them.
#pragma once

#include "net/abi.h"

namespace tutti::mpi {

// Where the watchdog gives up (TUTTI_STALL=abort): asks the host MPI to end the job. This process
// ends in any case, soon: what stalls a job may have cut the launcher off as well, and then a
// host's MPI_Abort need not come back.
[[noreturn]] void end_job(MPI_Comm communicator);

// This process ends within some seconds, whatever it is doing.
void end_soon();

// Before MPI_Init, by some of the ranks alone. A signal ends them: MPICH's launcher lets the others
// wait for a rank that exited there, whatever its code.
[[noreturn]] void end_before_init();

}  // namespace tutti::mpi
