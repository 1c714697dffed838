// Who may read this process's memory by process_vm_readv, where the system's module Yama lets only
// a process's ancestors.
//
// A process may name one other that may as well (PR_SET_PTRACER), and that one's descendants with
// it. So ranks name each other's nearest common ancestor, the launcher as a rule, or the other one
// where there is but one. The word lasts as long as the process, or until the one that is named
// ends. Functions that are given a directory read it and nothing else.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tutti::shm {

// Whether Yama keeps others than ancestors away unless they are named (ptrace_scope 1). What a file
// without Yama, or with a stricter scope, says cannot be helped by naming.
bool naming_readers_helps(const std::string& scope_file = "/proc/sys/kernel/yama/ptrace_scope");

// A process, its parent, and so on up to the first; as far as the system tells.
std::vector<pid_t> ancestry(pid_t process, const std::string& proc = "/proc");

// The first process that is in every ancestry, each of which begins with the process itself; 0:
// none.
pid_t nearest_in_all(const std::vector<std::vector<pid_t>>& ancestries);

// Lets these processes read this one's memory, and all that were given before. As far as it can:
// whoever then reads finds out. One thread at a time.
void let_read(const std::vector<pid_t>& processes);

}  // namespace tutti::shm
