// Properties of the host MPI that only wrong calls bring to light. They are probed once, inside
// MPI_Init, by the thread that is in it.
//
// The wrong calls are made on a communicator of this process alone, which has an error handler of
// its own. The program's communicators and their handlers are not touched: in some hosts a
// communicator has no handler set at first, and no call can restore that state.
#pragma once

#include <cstdint>

namespace tutti::mpi {

struct HostTraits {
  // True if the host raises errors for wrong arguments; builds of MPICH for speed do not.
  bool judges_arguments = true;
  // The bits of the types (rare_type_bit) that MPI defines reductions for and the host cannot
  // reduce.
  uint32_t missing_types = 0;
};
HostTraits probe_host();

}  // namespace tutti::mpi
