// The group for one-sided transfers that Tutti itself makes, of the ranks of a communicator.
#pragma once

#include <memory>

#include "api/team.h"
#include "mpi/host/host.h"

namespace tutti::mpi {

// Collective, while MPI runs. Throws at all ranks or at none; Error(unavailable) if memory has run
// out at another rank. tutti_group_free ends it, too.
std::unique_ptr<tutti_group> make_group(Comm communicator, int ranks, int rank);

}  // namespace tutti::mpi
