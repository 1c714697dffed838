// This machine's name and its other processes. No state; any thread.
#pragma once

#include <cstdint>
#include <string>

namespace tutti {

// The host's name, as `uname -n` prints it.
std::string host_name();

// True if the process has ended: its number is free again, or its parent has not yet waited for it,
// which a launcher may do late. False if the system does not report it, or if another process has
// the number now. Takes a few system calls.
bool process_is_gone(uint64_t process);

}  // namespace tutti
