// The host's virtual interfaces (MPICH's VCIs): each has locks and connections of its own, and the
// host spreads its communicators over them.
#pragma once

#include <cstdint>

namespace tutti::mpi {

// Their number, as the host's control variable tells; 0 if it has none. Between MPI's begin and its
// end.
uint64_t interfaces_of_host();
// A function of the host's that is in no table, by its linker's name; null if the host has none.
void* function_of_host(const char* name);

}  // namespace tutti::mpi
