// Short slices for threads that must run soon after they wake, but only for a short time.
#pragma once

namespace tutti {

// Asks the system to give the calling thread the shortest slices that it has. Linux of 6.12 and
// later then runs the thread as soon as it wakes, in place of one that computes on the same core;
// else it may wait for the end of that one's slice, which takes some ms. The thread gets no more of
// the core than before. Policy and nice value stay. It has no effect on other systems, or where it
// is refused, or under a policy of real time.
void ask_for_short_slices();

}  // namespace tutti
