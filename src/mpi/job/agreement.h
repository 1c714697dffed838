// Agreement: before Tutti does anything else with a communicator's ranks, all of them confirm that
// they run under Tutti with the same options.
//
// A rank that does not run under Tutti never takes part. So that the others do not wait silently,
// the agreement is a nonblocking reduction that is polled, and one rank of the node logs a wait
// that takes long. No state. The functions are called by the thread that is inside MPI_Init, a
// spawn or a collective, which holds no lock.
#pragma once

#include <cstdint>
#include <string>

#include "mpi/host/host.h"

namespace tutti::mpi {

enum class Verdict {
  alike,
  disabled,          // TUTTI_DISABLE at all ranks
  disabled_at_some,  // TUTTI_DISABLE at some ranks only
  different_options,
  host_failed,  // the host MPI returned an error, at all ranks
};

// The result of an agreement of a communicator's ranks: whether they have the same options, and the
// same value that each passes (`own`).
struct Common {
  Verdict verdict = Verdict::host_failed;
  bool same = false;      // all ranks passed the same `own`
  uint64_t least = 0;     // the least of the values that ranks passed
  bool one_node = false;  // the launcher tells each of them that all are on its node
  bool can_meet = false;  // they are all of a job and have not met for the roll call (end.h)
  // Tools hide functions at some rank, and some without which Tutti cannot serve (host/tools.h).
  bool hides = false, hides_needed = false;
};
// Collective over MPI_COMM_WORLD, inside MPI_Init. *culprits gets the names of the variables that
// differ between the ranks.
Common agree_in_init(uint64_t own, std::string* culprits);
// Collective over MPI_COMM_WORLD, inside MPI_Init, if tools hide functions at some rank: all ranks
// learn which functions are hidden. False if Tutti must be off, because they are `needed` or
// because the host failed.
bool agree_on_hidden(bool needed);
// Collective over the communicator, inside its first collectives.
Common agree_in_setup(Comm communicator, uint64_t own);

// Collective over an intercommunicator of parents and spawned children. `on`: Tutti is on at this
// side, whose ranks have already agreed on that. True at all ranks if Tutti is on at both sides and
// their options are the same.
bool agree_with_others(Comm inter, bool on);

}  // namespace tutti::mpi
