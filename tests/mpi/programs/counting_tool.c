// A tool that wraps functions of MPI and counts their calls, as profilers do. At the end of MPI
// each rank says what the tool has seen. It is a library that is preloaded or linked, or a part of
// the program.
//
// Without a macro the tool calls PMPI_*. AROUND makes it find the functions that begin and end MPI
// behind itself, and define their second names, too, as Darshan does. BYPASS makes it call the host
// library's own allreduces, so that they never come to Tutti; with BYPASS_WAIT also MPI_Wait.
#define _GNU_SOURCE
#include <mpi.h>

#include "host.h"

static int allreduces, bcasts, alltoallvs, iallreduces, waits, splits, frees, begins;

#ifdef AROUND
#define PASS_LIFE(name) ((__typeof__(&MPI_##name))dlsym(RTLD_NEXT, "PMPI_" #name))
#else
#define PASS_LIFE(name) PMPI_##name
#endif
#ifdef BYPASS
#define PASS(name) ((__typeof__(&MPI_##name))function_of_host("PMPI_" #name))
#else
#define PASS(name) PMPI_##name
#endif
#ifdef BYPASS_WAIT
#define PASS_WAIT(name) ((__typeof__(&MPI_##name))function_of_host("PMPI_" #name))
#else
#define PASS_WAIT(name) PMPI_##name
#endif

int MPI_Init(int* argc, char*** argv) {
  ++begins;
  return PASS_LIFE(Init)(argc, argv);
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  ++begins;
  return PASS_LIFE(Init_thread)(argc, argv, required, provided);
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(
      stderr,
      "the tool at rank %d: %d begins, %d allreduces, %d bcasts, %d alltoallvs, %d iallreduces, "
      "%d waits, %d splits, %d frees\n",
      rank, begins, allreduces, bcasts, alltoallvs, iallreduces, waits, splits, frees);
  return PASS_LIFE(Finalize)();
}

#ifdef AROUND
int PMPI_Init(int* argc, char*** argv) { return MPI_Init(argc, argv); }
int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return MPI_Init_thread(argc, argv, required, provided);
}
int PMPI_Finalize(void) { return MPI_Finalize(); }
#endif

int MPI_Allreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++allreduces;
  return PASS(Allreduce)(in, out, n, type, op, comm);
}

int MPI_Iallreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  ++iallreduces;
  return PASS(Iallreduce)(in, out, n, type, op, comm, request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  ++waits;
  return PASS_WAIT(Wait)(request, status);
}

int MPI_Bcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
  ++bcasts;
  return PMPI_Bcast(data, n, type, root, comm);
}

int MPI_Alltoallv(const void* in, const int n[], const int at[], MPI_Datatype type, void* out,
                  const int out_n[], const int out_at[], MPI_Datatype out_type, MPI_Comm comm) {
  ++alltoallvs;
  return PMPI_Alltoallv(in, n, at, type, out, out_n, out_at, out_type, comm);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  ++splits;
  return PMPI_Comm_split(comm, color, key, made);
}

int MPI_Comm_free(MPI_Comm* comm) {
  ++frees;
  return PMPI_Comm_free(comm);
}
