// Beginning and end: what happens around the host's MPI_Init and MPI_Finalize. Called by one thread of the process.
#pragma once

#include "mpi/host.h"

namespace tutti::mpi {

// Before the host's: reads the environment; ends the process with one line and exit code 2 where it is malformed.
void before_init();
// After the host's, if that went well.
void after_init();
void before_finalize();

int init(int* argc, char*** argv);
int init_thread(int* argc, char*** argv, int required, int* provided);
int finalize();

}  // namespace tutti::mpi
