// The descriptors, mappings and threads that Tutti has left in this process when it has ended, for
// the ledger (ledger.h).
//
// They are found in /proc/self: Tutti's descriptors have high numbers and are closed by exec
// (base/descriptors.h), the files of its shared memory have names that begin with "tutti", and so
// have its threads. This process's shared heap may stay, because the program may keep memory of it
// (shm/process_heap.h). So may the records of a trace (mpi/report/tracing.h), which have no name.
#pragma once

#include <string>
#include <vector>

namespace tutti::mpi {

// One text for each thing that is left. A thread that has been joined may be listed by the system
// for a moment more, so this waits up to a second for threads.
std::vector<std::string> leftovers();

}  // namespace tutti::mpi
