// The predefined datatypes and operations of the host MPI, as Tutti's kernels know them.
//
// Pure look-ups in tables that are made at first use and constant from then on; any thread. They serve the slow path: a
// communicator's state remembers what it has found (state.h).
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/kernels.h"
#include "mpi/abi.h"

namespace tutti::mpi {

struct NamedType {
  std::optional<kernels::Type> kernel;  // none: moved, but never reduced by our kernels
  size_t bytes = 0;                     // of the type's signature
  bool dense = false;                   // bytes is also its extent, so that a vector of it has no gaps
};

// A predefined type, null where the handle is none.
const NamedType* named_type(MPI_Datatype type);

// The kernels' name of a predefined operation; nothing for a user's one.
std::optional<kernels::Op> named_op(MPI_Op op);
// True for the handles of MPI_REPLACE and MPI_NO_OP too, which no reduction takes.
bool predefined_op(MPI_Op op);

}  // namespace tutti::mpi
