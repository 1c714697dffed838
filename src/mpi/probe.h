// What the host MPI does, where only trying tells: done inside MPI_Init, before the program can see it.
//
// The tries make mistakes on purpose. Their errors go to handlers that note them and are taken away again, on
// MPI_COMM_SELF and MPI_COMM_WORLD, so none of this may run where a program's own calls may.
#pragma once

#include <cstdint>

namespace tutti::mpi {

// True where the host raises errors for wrong arguments; builds of MPICH for speed do not.
bool host_judges_arguments();

// The bits of the types (types.h) that the host's MPI_Reduce_local does not know, though MPI does.
uint32_t types_that_host_lacks();

}  // namespace tutti::mpi
