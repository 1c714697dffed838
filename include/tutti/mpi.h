/* Tutti in MPI programs: groups for one-sided transfers between processes (tutti.h), and the
 * servers of a node. Compile with the MPI's compiler, link libtutti.so, and start the program under
 * tutti-run, whose library serves these calls:
 *
 *   mpicc app.c -ltutti && mpiexec -n 4 tutti-run ./a.out
 *
 *   tutti_group* group;
 *   tutti_group_of_comm(MPI_COMM_WORLD, &group);
 *   double* mine = tutti_alloc(bytes);          // memory that the node's other ranks reach
 *   MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
 *   tutti_put(group, target, all[target], data, bytes, &handle);
 *   tutti_wait(group, &handle);
 *   MPI_Barrier(MPI_COMM_WORLD);                // the target may read now
 *   tutti_group_free(group);
 *
 * A rank reaches memory of the target that comes from tutti_alloc or MPI_Alloc_mem, and all of it
 * under tutti-run --shared-heap. Other memory is reached by the system's copies where the system
 * permits them (`tutti doctor`), and static memory and stacks too. A transfer to memory that cannot
 * be reached, or that the target does not have, returns a status.
 *
 * Transfers with ranks of other nodes are messages, and reach all memory that the target has. The
 * target must answer them: its server does (tutti-run --servers 1), or else its own calls of Tutti
 * while they wait. To MPI's thread levels, calls on a group that spans nodes are calls of MPI.
 *
 * tutti_node_team() is the team of the node's ranks, for tutti_servers_start and the like.
 *
 * Transfers alone are served: tutti_barrier and the like refuse such a group, because MPI has them.
 */
#ifndef TUTTI_MPI_H
#define TUTTI_MPI_H

#include <mpi.h>
#include <stdint.h>

#include "tutti.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes this rank's group of the ranks of an intracommunicator. Collective over it, between
 * MPI_Init and MPI_Finalize. Several groups may exist, also of one communicator, which may be freed
 * before them. The caller frees the group by tutti_group_free, before or after MPI_Finalize; after
 * MPI_Finalize its transfers are refused. TUTTI_UNAVAILABLE at all ranks if some do not run under
 * tutti-run, or if Tutti is off in the job. */
static inline tutti_status tutti_group_of_comm(MPI_Comm comm, tutti_group** group) {
  return tutti_group_of_communicator((uint64_t)(uintptr_t)comm, group);
}

#ifdef __cplusplus
}
#endif

#endif
