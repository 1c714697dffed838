// The cores on which the ranks of this node may run now, as a waiting thread sees them.
//
// MPI_Init finds out whether ranks share cores, and all ranks agree on that (WaitStyle). A program
// or a tool may move ranks later. So a thread whose wait has lasted for hundreds of polls looks at
// its own cores and those of the other ranks, ten times a second at most. The others need not know
// the result: it only decides how this thread spends its waits.
//
// The processes are those of this process's teams, for all threads; any thread may add some.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace tutti::exec {

// From now on, threads of this process also look at the cores of these processes. It leaves out 0,
// this process, and processes that are known already.
void watch_cores_of(const std::vector<int64_t>& processes);

// True if this thread shares its cores, because more of the ranks are confined to them than there
// are cores. Looks only if it has found sharing before, so it costs nothing where there is none.
bool shares_core(std::chrono::steady_clock::time_point now);
// The same for such a wait: it looks whatever was found before.
bool shares_core_in_long_wait(std::chrono::steady_clock::time_point now);

}  // namespace tutti::exec
