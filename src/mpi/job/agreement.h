// Agreement: before Tutti does anything with a communicator's ranks, all of them say that they run
// under it, alike.
//
// A rank that does not run under Tutti, and so never comes, must not leave the others waiting
// without a word: the agreement is a nonblocking reduction that is polled, and one rank of the node
// says what is amiss. No state; called by the thread that is inside MPI_Init or a collective,
// holding no lock.
#pragma once

#include <cstdint>

#include "mpi/abi/host.h"

namespace tutti::mpi {

enum class Verdict {
  alike,
  disabled,          // TUTTI_DISABLE at all ranks
  disabled_at_some,  // and not at others
  different_options,
  host_failed,  // the host MPI raised an error, at all ranks
};

// The variable that the ranks must set alike, for messages; "" where they do.
const char* culprit(Verdict verdict);

// Collective over MPI_COMM_WORLD, inside MPI_Init.
Verdict agree_in_init();

// What the ranks of another communicator have in common: their options, and whatever `own` stands
// for.
struct Common {
  Verdict verdict = Verdict::host_failed;
  bool same = false;  // all ranks gave the same `own`
};
// Collective over the communicator, inside its first collectives.
Common agree_in_setup(MPI_Comm communicator, uint64_t own);

// Collective over an intercommunicator whose two sides are parents and children; each side has
// agreed by itself whether it is on. True at all of them where both are, with the same options.
bool agree_with_others(MPI_Comm inter, bool on);

}  // namespace tutti::mpi
