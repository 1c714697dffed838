// Gives Tutti's own file descriptors high numbers, because programs close or count the low ones.
// Any thread.
#pragma once

namespace tutti {

// Gives a descriptor a high number and returns it, or the old number if the limit of descriptors
// allows no high one. The new descriptor is closed by exec.
int move_high(int descriptor);
bool is_high(int descriptor);

// Makes the system's table of this process's descriptors large enough for high numbers. Call it
// while the process has one thread: with several threads, which some MPIs start, the system waits
// for an RCU grace period, which took 25 ms of every MPI_Init.
void make_room_for_high_descriptors();

}  // namespace tutti
