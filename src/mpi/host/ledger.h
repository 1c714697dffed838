// The ledger: for tests, it counts the host's handles that Tutti makes and frees, and finds the
// descriptors, mappings and threads that Tutti has left when it ends (leftovers.h).
//
// A handle that nobody frees costs nothing in a short test, and ends a long job: the host's
// supplies are small. So every job of the tests keeps a ledger (TEST_TUTTI_LEDGER=1, set by
// tests/conftest.py), and a process that has anything left when Tutti ends its use of the host says
// so and exits with an error code. A process that ends without that, by a signal or by MPI_Abort,
// has no such moment, and the system ends everything. The functions of the table that make and free
// handles are replaced before the first call; without the variable nothing is replaced, and no call
// costs more. Any thread.
#pragma once

#include "mpi/host/host.h"

namespace tutti::mpi {

// Replaces functions of the host in the table that was just filled (abi/abi_host.h), if the
// variable asks for a ledger.
void keep_ledger();
// Call it when Tutti has ended its use of the host.
void check_ledger();

}  // namespace tutti::mpi
