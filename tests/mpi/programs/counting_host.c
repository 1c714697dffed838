// A library that is preloaded and counts which of the host's functions Tutti calls: it is named
// like an MPI's library and defines PMPI_Init, so Tutti takes it and what it needs for the host.
// When the process ends, it says how many calls it has seen.
#define _GNU_SOURCE
#include "host.h"

int PMPI_Init(int* argc, char*** argv) { return HOST(Init)(argc, argv); }

static int alltoalls, alltoallvs, allreduces, sends;

__attribute__((destructor)) static void say_calls(void) {
  fprintf(stderr, "the host made %d alltoalls and %d alltoallvs\n", alltoalls, alltoallvs);
  fprintf(stderr, "the host made %d allreduces and %d sends\n", allreduces, sends);
}

int PMPI_Allreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++allreduces;
  return HOST(Allreduce)(in, out, n, type, op, comm);
}

int PMPI_Send(const void* in, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  ++sends;
  return HOST(Send)(in, n, type, to, tag, comm);
}

int PMPI_Alltoall(const void* in, int n, MPI_Datatype type, void* out, int out_n,
                  MPI_Datatype out_type, MPI_Comm comm) {
  ++alltoalls;
  return HOST(Alltoall)(in, n, type, out, out_n, out_type, comm);
}

int PMPI_Alltoallv(const void* in, const int n[], const int at[], MPI_Datatype type, void* out,
                   const int out_n[], const int out_at[], MPI_Datatype out_type, MPI_Comm comm) {
  ++alltoallvs;
  return HOST(Alltoallv)(in, n, at, type, out, out_n, out_at, out_type, comm);
}
