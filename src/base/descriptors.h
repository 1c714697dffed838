// File descriptors that programs do not meet: they like to close or count the low ones. Any thread.
#pragma once

namespace tutti {

// Moves a descriptor out of their way, closed by exec; returns the new number, or the old one where the limit of descriptors does not
// allow it.
int move_high(int descriptor);

// To be called while the process has one thread. Its table of descriptors grows to hold the high ones; in a process with threads, as
// some MPIs start, the system would wait for all cores to have switched (an RCU grace period), which took 25 ms of every MPI_Init.
void make_room_for_high_descriptors();

}  // namespace tutti
