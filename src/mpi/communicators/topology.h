// This rank's neighbours in a communicator's topology, by the host's local functions. Any thread.
#pragma once

#include <optional>

#include "records/neighbours.h"
#include "mpi/host/host.h"

namespace tutti::mpi {

// The neighbours in the order of the blocks of neighbourhood collectives: on a cartesian
// communicator, the rank at -1 and the rank at +1 in each dimension; on a graph, the order in which
// MPI tells the edges. Nothing if the communicator has no topology. Throws bad_alloc.
std::optional<records::Neighbourhood> neighbourhood_of(Comm communicator);

}  // namespace tutti::mpi
