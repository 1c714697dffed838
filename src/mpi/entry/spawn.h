// Spawned processes: how parents and children prove to each other that all of them run under Tutti.
//
// Nobody may be asked by a collective call who might not answer, and launchers give spawned
// processes the environment of the launcher, not of their parents; so a program under tutti-run
// usually has children that are not. The proof is the spawn itself: where its command is tutti-run,
// the interposer starts it by way of env(1) with a variable that tells the children that their
// parents run under Tutti; then both sides agree over the new intercommunicator, inside
// MPI_Comm_spawn and the children's MPI_Init. What is merged from such an intercommunicator is
// trusted (registry.h). All other communicators with processes of several jobs stay on the host
// MPI: spawned without tutti-run, by MPI_Comm_spawn_multiple or from Fortran, and connected by
// MPI_Comm_connect, MPI_Comm_accept or MPI_Comm_join.
#pragma once

#include "mpi/abi/host.h"

namespace tutti::mpi {

int spawn(const char* command, char** arguments, int processes, MPI_Info info, int root,
          MPI_Comm communicator, MPI_Comm* children, int* error_codes);

// Around another language's spawn. The root's word whether it starts tutti-run reaches all parents;
// false where they are no parents that may be told. Then, if it was true and the spawn went well,
// the parents meet their children.
bool tell_spawn(MPI_Comm communicator, int root, bool through_us);
void meet_children(MPI_Comm children);

// In MPI_Init, at all processes of a world, whether Tutti is on or not.
void meet_parents(bool on);

int merge(MPI_Comm inter, int high, MPI_Comm* merged);
// After a merge that went well.
void note_merge(MPI_Comm inter, MPI_Comm merged);

}  // namespace tutti::mpi
