// The watchdog: one thread of each process, which knows where the process's other threads are,
// tells it to whoever may ask, and notices that the process waits too long.
//
// It sleeps in the system while nobody asks. With TUTTI_STALL_SECONDS it looks at the process eight
// times in that time, or each half second while the process goes on (tracking.h): if the process
// has made no collective since, it asks the thread where it is (stack.h). If that thread has been
// in one call of MPI for TUTTI_STALL_SECONDS, the lowest rank that is there asks all ranks
// (gathering.h) and prints the table (table.h), provided that no rank goes on. It asks one rank of
// each other node, which asks those of its node. It also does so when a rank ends without
// MPI_Finalize, and when Tutti finds that ranks are in different calls. Any process of this user
// may ask for the table at any time (`tutti ps`).
//
// begin_roll and end_roll are for the thread that begins and ends MPI; the thread, with all that it
// uses, ends with end_roll. A process that was forked has none.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "mpi/roll/sockets.h"

namespace tutti::mpi::roll {

// Gives this rank's contact to all ranks, and returns those of all, by rank. Collective over the
// job.
using Exchange = std::function<std::vector<Contact>(const Contact&)>;

// Starts the thread. Where the system refuses a thread or a socket, there is no roll call, which is
// logged as information. `here`: the ranks of this node, rising, among them this one. `exchange`:
// given at all ranks if the job has several nodes, and then called once, whatever fails here.
// `spawned`: 0, or a number that these ranks alone have in common, because another job has spawned
// them; the two have a launcher, and numbers of ranks, in common.
void begin_roll(int rank, int ranks, std::vector<int> here, int64_t spawned,
                const Exchange& exchange);
void end_roll();
// The program ends the job by MPI_Abort, so its exit is no mistake.
void expect_exit();

}  // namespace tutti::mpi::roll
