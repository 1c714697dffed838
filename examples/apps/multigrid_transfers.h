/* Gets and puts by Tutti (tutti/mpi.h), whose functions are in the library that tutti-run has
 * preloaded: the program is not linked to it. One thread uses them. */
#ifndef MULTIGRID_TRANSFERS_H
#define MULTIGRID_TRANSFERS_H

#include <mpi.h>
#include <stddef.h>

#include "tutti/tutti.h"

/* Collective. Makes the group of a communicator's ranks. Returns NULL, or why there is none. */
const char* transfers_begin(MPI_Comm over, tutti_group** group);
void transfers_end(tutti_group* group);

/* Memory that other ranks reach. Ends the job if there is none. */
void* transfers_alloc(size_t bytes);
void transfers_free(void* memory);

/* Starts a get of the target's memory. A failure ends the job. */
void transfers_get(tutti_group* group, int target, void* to, const void* from, size_t bytes,
                   tutti_handle* get);
/* Starts a put into the target's memory, which adds its bytes to the target's signal. */
void transfers_put(tutti_group* group, int target, void* to, const void* from, size_t bytes,
                   uint64_t* signal, tutti_handle* put);
/* Waits until a signal of this rank's counts so many bytes. */
void transfers_await(tutti_group* group, const uint64_t* signal, uint64_t bytes);
/* Waits until a transfer is complete, and answers ranks of other nodes meanwhile. */
void transfers_complete(tutti_group* group, tutti_handle* transfer);
/* Waits for a request of MPI's, and answers ranks of other nodes meanwhile. */
void transfers_wait(tutti_group* group, MPI_Request* request);
/* Answers ranks of other nodes that want something now, and lets others use the core. */
void transfers_answer(tutti_group* group);

#endif
