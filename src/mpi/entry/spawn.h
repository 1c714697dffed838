// Spawned processes: how parents and children prove to each other that all of them run under Tutti.
//
// Tutti may make a collective call only if all processes take part in it. Launchers give spawned
// processes the environment of the launcher, not of their parents, so the children of a program
// under tutti-run usually do not run under it. The proof is the spawn itself. If its command is
// tutti-run, the interposer starts it by way of env(1), with a variable that tells the children
// that their parents run under Tutti. Then both sides agree over the new intercommunicator, inside
// MPI_Comm_spawn and the children's MPI_Init. Communicators that are merged from such an
// intercommunicator are trusted (communicators/registry.h). All other communicators with processes
// of several jobs stay on the host MPI: those of processes that were spawned without tutti-run, by
// MPI_Comm_spawn_multiple or from Fortran, or connected by MPI_Comm_connect, MPI_Comm_accept or
// MPI_Comm_join.
//
// These functions keep no state. The thread that makes the MPI call runs them.
#pragma once

#include "mpi/host/host.h"

namespace tutti::mpi {

// MPI_Comm_spawn.
int spawn(const char* command, char** arguments, int processes, Info info, int root,
          Comm communicator, Comm* children, int* error_codes);

// Call it in MPI_Init by all processes of a world, whether Tutti is on or not. If their
// parents run under Tutti, agrees with them.
void meet_parents(bool on);

// MPI_Intercomm_merge.
int merge(Comm inter, int high, Comm* merged);

}  // namespace tutti::mpi
