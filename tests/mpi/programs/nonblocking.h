// Makes a program's blocking collectives non-blocking ones, each followed by its completion, in a
// different way each time. To be included before the program (-include), so that every test program
// of blocking calls also tests the non-blocking ones. PMPI_* stay as they are.
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static inline void fail_completion(const char* what) {
  fprintf(stderr, "completion of a non-blocking collective: %s\n", what);
  PMPI_Abort(MPI_COMM_WORLD, 3);
}

// Completes the request in one of eight ways and returns the error code.
static inline int completed(int code, MPI_Request* request) {
  static __thread unsigned way = 0;
  int flag = 0, index = -1, some = 0;
  MPI_Status status;
  if (code != MPI_SUCCESS) return code;
  switch (way++ % 8) {
    case 0: code = MPI_Wait(request, MPI_STATUS_IGNORE); break;
    case 1:
      while (!flag && code == MPI_SUCCESS) code = MPI_Test(request, &flag, &status);
      break;
    case 2: code = MPI_Waitall(1, request, MPI_STATUSES_IGNORE); break;
    case 3:
      while (!flag && code == MPI_SUCCESS) code = MPI_Testall(1, request, &flag, &status);
      break;
    case 4:
      code = MPI_Waitany(1, request, &index, &status);
      if (index != 0) fail_completion("MPI_Waitany names another");
      break;
    case 5:
      while (!flag && code == MPI_SUCCESS)
        code = MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE);
      if (index != 0) fail_completion("MPI_Testany names another");
      break;
    case 6:
      code = MPI_Waitsome(1, request, &some, &index, MPI_STATUSES_IGNORE);
      if (some != 1 || index != 0) fail_completion("MPI_Waitsome names another");
      break;
    default:
      while (!flag && code == MPI_SUCCESS)
        code = MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE);
      if (*request == MPI_REQUEST_NULL) fail_completion("MPI_Request_get_status freed it");
      while (some == 0 && code == MPI_SUCCESS)
        code = MPI_Testsome(1, request, &some, &index, &status);
      if (some != 1 || index != 0) fail_completion("MPI_Testsome names another");
      break;
  }
  if (*request != MPI_REQUEST_NULL) fail_completion("the request is not MPI_REQUEST_NULL");
  return code;
}

#define TUTTI_COMPLETED(start, ...) \
  (tutti_request = MPI_REQUEST_NULL, completed(start(__VA_ARGS__, &tutti_request), &tutti_request))
static __thread MPI_Request tutti_request;

#define MPI_Barrier(...) TUTTI_COMPLETED(MPI_Ibarrier, __VA_ARGS__)
#define MPI_Bcast(...) TUTTI_COMPLETED(MPI_Ibcast, __VA_ARGS__)
#define MPI_Gather(...) TUTTI_COMPLETED(MPI_Igather, __VA_ARGS__)
#define MPI_Gatherv(...) TUTTI_COMPLETED(MPI_Igatherv, __VA_ARGS__)
#define MPI_Scatter(...) TUTTI_COMPLETED(MPI_Iscatter, __VA_ARGS__)
#define MPI_Scatterv(...) TUTTI_COMPLETED(MPI_Iscatterv, __VA_ARGS__)
#define MPI_Allgather(...) TUTTI_COMPLETED(MPI_Iallgather, __VA_ARGS__)
#define MPI_Allgatherv(...) TUTTI_COMPLETED(MPI_Iallgatherv, __VA_ARGS__)
#define MPI_Alltoall(...) TUTTI_COMPLETED(MPI_Ialltoall, __VA_ARGS__)
#define MPI_Alltoallv(...) TUTTI_COMPLETED(MPI_Ialltoallv, __VA_ARGS__)
#define MPI_Alltoallw(...) TUTTI_COMPLETED(MPI_Ialltoallw, __VA_ARGS__)
#define MPI_Reduce(...) TUTTI_COMPLETED(MPI_Ireduce, __VA_ARGS__)
#define MPI_Allreduce(...) TUTTI_COMPLETED(MPI_Iallreduce, __VA_ARGS__)
#define MPI_Reduce_scatter(...) TUTTI_COMPLETED(MPI_Ireduce_scatter, __VA_ARGS__)
#define MPI_Reduce_scatter_block(...) TUTTI_COMPLETED(MPI_Ireduce_scatter_block, __VA_ARGS__)
#define MPI_Scan(...) TUTTI_COMPLETED(MPI_Iscan, __VA_ARGS__)
#define MPI_Exscan(...) TUTTI_COMPLETED(MPI_Iexscan, __VA_ARGS__)
