// The ledger of the host's handles: for tests, it counts the handles that Tutti makes and frees.
//
// A handle that nobody frees costs nothing in a short test, and ends a long job: the host's
// supplies are small. So every job of the tests keeps a ledger (TEST_TUTTI_LEDGER=1, set by
// tests/conftest.py), and a process that has a handle left when Tutti ends its use of the host says
// so and exits with an error code. The functions of the table that make and free handles are
// replaced before the first call; without the variable nothing is replaced, and no call costs more.
// Any thread.
#pragma once

#include "mpi/abi/host.h"

namespace tutti::mpi {

// Replaces the functions of a table that was just filled, if the variable asks for a ledger.
void keep_ledger(Host& host);
// To be called when Tutti has ended its use of the host.
void check_ledger();

}  // namespace tutti::mpi
