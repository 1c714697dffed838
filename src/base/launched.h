// The launcher's settings for this process before MPI_Init, and who reports an error that all ranks
// find. Functions of the environment; any thread.
#pragma once

#include <string>

namespace tutti {

// The rank in MPI_COMM_WORLD and among the ranks of this node. 0 if no launcher says it, so that at
// least one process reports an error.
int launched_rank();
int launched_rank_on_node();
// How many ranks of the job are on this node; 0 if no launcher says it.
int launched_ranks_on_node();
// A name of the job, the same at all of its ranks on a node and at no other job there. If the
// environment does not name it, the parent process identifies it, because the ranks of a job on a
// node are children of one process.
std::string job_on_node();

// Call this before a process exits because of an error that rank 0 finds, too, and reports. A
// launcher ends the job when the first rank fails, so the ranks that report nothing wait for 0.5 s;
// the one that has reported (`reported`) waits until the launcher has read its line. Returns at
// once if no launcher started the process.
void let_reporter_first(bool reported);

}  // namespace tutti
