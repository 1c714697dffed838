// A library that is preloaded and counts which of the host's functions Tutti calls: it defines
// their second names, by which Tutti finds them. When the process ends, it says how many calls it
// has seen.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int alltoalls, alltoallvs, allreduces, sends;

__attribute__((destructor)) static void say_calls(void) {
  fprintf(stderr, "the host made %d alltoalls and %d alltoallvs\n", alltoalls, alltoallvs);
  fprintf(stderr, "the host made %d allreduces and %d sends\n", allreduces, sends);
}

int PMPI_Allreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  static int (*next)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Allreduce");
  ++allreduces;
  return next(in, out, n, type, op, comm);
}

int PMPI_Send(const void* in, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  static int (*next)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Send");
  ++sends;
  return next(in, n, type, to, tag, comm);
}

int PMPI_Alltoall(const void* in, int n, MPI_Datatype type, void* out, int out_n,
                  MPI_Datatype out_type, MPI_Comm comm) {
  static int (*next)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Alltoall");
  ++alltoalls;
  return next(in, n, type, out, out_n, out_type, comm);
}

int PMPI_Alltoallv(const void* in, const int n[], const int at[], MPI_Datatype type, void* out,
                   const int out_n[], const int out_at[], MPI_Datatype out_type, MPI_Comm comm) {
  static int (*next)(const void*, const int*, const int*, MPI_Datatype, void*, const int*,
                     const int*, MPI_Datatype, MPI_Comm);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Alltoallv");
  ++alltoallvs;
  return next(in, n, at, type, out, out_n, out_at, out_type, comm);
}
