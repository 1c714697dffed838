/* Gets by Tutti (tutti/mpi.h), whose functions are in the library that tutti-run has preloaded: the
 * program is not linked to it. One thread uses them. */
#ifndef MULTIGRID_TRANSFERS_H
#define MULTIGRID_TRANSFERS_H

#include <mpi.h>
#include <stddef.h>

struct tutti_group;

/* Collective. Makes the group of a communicator's ranks. Returns NULL, or why there is none. */
const char* transfers_begin(MPI_Comm over, struct tutti_group** group);
void transfers_end(struct tutti_group* group);

/* Memory of which the other ranks get parts. Ends the job if there is none. */
void* transfers_alloc(size_t bytes);
void transfers_free(void* memory);

/* Starts a get of the target's memory. A failure ends the job. */
void transfers_get(struct tutti_group* group, int target, void* to, const void* from, size_t bytes);
/* Completes the gets that were started. Answers ranks of other nodes meanwhile, also if there are
 * none. */
void transfers_complete(struct tutti_group* group);
/* Waits for messages, and answers ranks of other nodes meanwhile. */
void transfers_wait(struct tutti_group* group, int count, MPI_Request* messages);

#endif
