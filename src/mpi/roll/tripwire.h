// Tripwires: they tell whether a thread that has been in a function of MPI for some time is still
// in the same call of it, or makes the call again and again.
//
// A function has no tripwire, and its calls cost nothing, until the watchdog suspects that one of
// them hangs. From then on the program's references to it lead to a few instructions that count the
// call and jump to the function. The watchdog alone uses this file (watchdog.h). On processors
// other than x86 there are no tripwires, and the watchdog looks more than once instead.
#pragma once

#include <cstdint>
#include <string>

namespace tutti::mpi::roll {

// Counts the calls of a function from now on, under its name, that with a P before it, and those of
// its form for large counts.
void set_tripwire(const std::string& function);
// The number of calls that were counted; 0 without a tripwire.
uint64_t counted_calls(const std::string& function);
// The function to whose tripwire an address leads; empty: to none.
std::string function_of_wire(uintptr_t address);

}  // namespace tutti::mpi::roll
