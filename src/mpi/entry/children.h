// Processes that a rank starts are no ranks: they need none of Tutti's libraries, which cost each
// of them 0.6 ms and 40 system calls to load.
#pragma once

namespace tutti::mpi {

// Takes Tutti's libraries out of LD_PRELOAD, so that no program that this process starts from now
// on loads them. Libraries of others stay. Call it in MPI_Init, where hosts change the environment
// too: no other thread may read it meanwhile.
void spare_children();

}  // namespace tutti::mpi
