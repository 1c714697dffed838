// Binds threads to processing units. No state; any thread.
#pragma once

#include <vector>

namespace tutti::topo {

// The calling thread, and the program that it becomes or the threads that it starts, run on these
// units only. No units: nothing changes. False, with the reason in errno, if the system refuses.
bool bind_to(const std::vector<int>& units);

}  // namespace tutti::topo
