// The thread level of the program: whether several threads of it may call MPI at once.
//
// Set inside MPI_Init, before the program has other threads that call MPI, and constant from then
// on. A program that begins a session and never calls MPI_Init may always.
#pragma once

namespace tutti::mpi {

inline constinit bool calls_at_once = true;
inline bool threads_call_at_once() { return calls_at_once; }

}  // namespace tutti::mpi
