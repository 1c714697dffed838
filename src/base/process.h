// This machine's name and its other processes. No state; any thread.
#pragma once

#include <cstdint>
#include <string>

namespace tutti {

// The host's name, as `uname -n` prints it.
std::string host_name();

// Processes with the same value number processes alike. 0 if the system does not report it.
uint64_t process_namespace();

// A process, which the time of its start tells from others that have the number before and after
// it. A plain value.
struct ProcessId {
  int64_t number = 0;
  uint64_t started = 0;  // in the kernel's ticks since it was booted; 0: unknown
};
ProcessId this_process();
// 0 if the system does not report it.
uint64_t start_of_process(int64_t process);

// True if the process has ended, with all its threads: its number is free again, or its parent has
// not yet waited for it, which a launcher may do late. False if the system does not report it.
// Takes a few system calls.
bool process_is_gone(const ProcessId& process);
// The same, except that it is false, too, if another process has the number now.
bool process_is_gone(uint64_t process);
// True if a signal, or a debugger, has stopped it.
bool process_is_stopped(const ProcessId& process);
// For messages that name a process which is waited for: ", stopped by a signal", or nothing.
const char* stopped_note(uint64_t process);
// Sends SIGKILL. False if the process has ended, or may not be killed by this one.
bool kill_process(const ProcessId& process);

}  // namespace tutti
