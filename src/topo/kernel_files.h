// The kernel's small files, those that tell of processing units among them. Reads files, any
// thread.
#pragma once

#include <map>
#include <set>
#include <string>

namespace tutti::topo {

// The first line of a small file; empty where it cannot be read.
std::string first_line(const std::string& name);

// The numbers of a list such as "0-3,8"; empty where part of it is none.
std::set<int> numbers_of(const std::string& list);

// The numa region of each processing unit; empty where the kernel tells none. `system` is where it
// shows its devices.
std::map<int, int> regions_of(const std::string& system);

// The socket of a processing unit; -1 where the kernel tells none.
int socket_of(int unit, const std::string& system);

}  // namespace tutti::topo
