// Other processes of this machine. No state; any thread.
#pragma once

#include <cstdint>

namespace tutti {

// True where the process has ended: its number is free again, or it waits for its parent to take
// note of it, which a launcher may do late. False where that cannot be told, and for a number that
// another process has taken. Takes a few system calls.
bool process_is_gone(uint64_t process);

}  // namespace tutti
