// Reads the kernel's small files, among them those that describe processing units. No state; any
// thread.
#pragma once

#include <map>
#include <string>

namespace tutti::topo {

// The first line of a small file; empty if it cannot be read.
std::string first_line(const std::string& name);

// The numa region of each processing unit; empty if the kernel reports none. `system` is where the
// kernel shows its devices.
std::map<int, int> regions_of(const std::string& system);

// The socket of a processing unit; -1 if the kernel reports none.
int socket_of(int unit, const std::string& system);

}  // namespace tutti::topo
