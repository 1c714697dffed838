// The processing units on which processes may run, as the system tells and sets them, before this
// process becomes the program. One thread.
#pragma once

#include <sys/types.h>

#include <set>

namespace tutti::run {

// The processing units of a process (0: this one); empty if the system does not tell.
std::set<int> units_of(pid_t process);
// Those that this process may bind itself to, whatever it is bound to now: its cpuset.
std::set<int> units_of_cpuset();
// False, with the reason in errno, if the system refuses.
bool bind_to(const std::set<int>& units);
// True if somebody has bound this process: it runs on one unit, or not on the same ones as its
// parent. Also true if the system does not tell.
bool is_bound();

}  // namespace tutti::run
