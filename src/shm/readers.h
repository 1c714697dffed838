// The choice of the processes that may read this process's memory by process_vm_readv. If the
// system's security module Yama allows this only to a process's ancestors, a process may name one
// more that may (PR_SET_PTRACER), together with that one's descendants.
//
// So ranks name the nearest common ancestor of all ranks that read (usually the launcher), or the
// reader itself if there is only one. The permission lasts until this process or the named one
// ends. Functions that take a file or directory read it and nothing else; they are pure. let_read
// changes the state of this process. All are for any thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tutti::shm {

// True if Yama allows only ancestors and named processes (ptrace_scope 1). Without Yama naming is
// not needed, and under a stricter scope it does not help.
bool naming_readers_helps(const std::string& scope_file = "/proc/sys/kernel/yama/ptrace_scope");

// A process, its parent, and so on up to the first, as far as the system tells.
std::vector<pid_t> ancestry(pid_t process, const std::string& proc = "/proc");

// The first process that is in every ancestry; 0 if there is none. Each ancestry begins with the
// process itself.
pid_t nearest_in_all(const std::vector<std::vector<pid_t>>& ancestries);

// Lets these processes, and those of all earlier calls, read this process's memory. It does not
// report failure: a reader that is not allowed finds out when it reads.
void let_read(const std::vector<pid_t>& processes);

}  // namespace tutti::shm
