// The layout of a datatype in memory, read from the host: how the type was built, down to named
// types, as data for the strided kernels (kernels/strided.h).
//
// The order of a layout is that of the type map, which is also the order in which MPI_Pack packs.
// The functions keep no state; any thread may call them. They may throw bad_alloc.
#pragma once

#include <optional>

#include "kernels/strided.h"
#include "mpi/host/host.h"

namespace tutti::mpi {

// Returns nothing if the host must pack the type: it was built with large counts, by a constructor
// that is not read here (distributed arrays), or has more irregular blocks or levels than a
// StridedLayout may have. The handle must be that of a type.
std::optional<kernels::StridedLayout> layout_of(Datatype type);

}  // namespace tutti::mpi
