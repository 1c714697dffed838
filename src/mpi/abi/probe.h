// What the host MPI does, where only trying tells: done inside MPI_Init, before the program can see
// it.
//
// The tries make mistakes on purpose, on a communicator of this process alone that has an error
// handler of its own. The program's communicators and their handlers are not touched: some hosts
// have a state in which no handler is set yet, which nothing can restore.
#pragma once

#include <cstdint>

namespace tutti::mpi {

struct HostTraits {
  bool judges_arguments =
      true;  // raises errors for wrong arguments; builds of MPICH for speed do not
  uint32_t missing_types =
      0;  // the bits of the types (types.h) that its reductions do not know, though MPI does
};
HostTraits probe_host();

}  // namespace tutti::mpi
